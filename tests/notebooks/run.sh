#!/usr/bin/env bash
# Runs both notebooks from first to last cell on the sample beside them, and checks the arithmetic that they share. Needs
# Python 3.10 or later with venv; the packages are installed once, into a folder that outlives clean clones.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
notebooks=../../notebooks
if ! python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
  echo 'skipped: no Python 3.10 or later with venv is here'
  exit 0
fi
environment="${XDG_CACHE_HOME:-$HOME/.cache}/varve/notebooks"
wanted="$(sha256sum "$notebooks/requirements.txt" | cut -d' ' -f1)"
if [[ "$(cat "$environment/installed" 2>/dev/null)" != "$wanted" ]]; then
  log="$(mktemp)"
  if ! { python3 -m venv --clear "$environment" && "$environment/bin/pip" install --quiet -r "$notebooks/requirements.txt"; } >"$log" 2>&1; then
    tail -3 "$log"
    echo 'skipped: the packages could not be installed'
    exit 0
  fi
  echo "$wanted" >"$environment/installed"
fi
exec "$environment/bin/python" check.py "$notebooks"
