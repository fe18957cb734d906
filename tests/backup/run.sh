#!/usr/bin/env bash
# Backups to a bucket: the built program against moto, an S3 service of others, in `make long-test`. The packages are installed
# once, into a folder that outlives clean clones.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
if [[ ${VARVE_TEST_LANE:-} != long ]]; then
  echo 'skipped: only in make long-test'
  exit 0
fi
if ! python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  echo 'skipped: no Python 3.11 or later with venv is here'
  exit 0
fi
environment="${XDG_CACHE_HOME:-$HOME/.cache}/varve/backup"
wanted="$(sha256sum requirements.txt | cut -d' ' -f1)"
if [[ "$(cat "$environment/installed" 2>/dev/null)" != "$wanted" ]]; then
  log="$(mktemp)"
  if ! { python3 -m venv --clear "$environment" && "$environment/bin/pip" install --quiet -r requirements.txt; } >"$log" 2>&1; then
    tail -3 "$log"
    echo 'skipped: the packages could not be installed'
    exit 0
  fi
  echo "$wanted" >"$environment/installed"
fi
"$environment/bin/python" check.py "${VARVE_BIN:-../../target/release/varve}"
