#!/usr/bin/env bash
# Backups to a bucket: the built program against moto, an S3 service of others, in `make long-test`.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
if [[ ${VARVE_TEST_LANE:-} != long ]]; then
  echo 'skipped: only in make long-test'
  exit 0
fi
source ../environment.sh
"$environment/bin/python" check.py "${VARVE_BIN:-../../target/release/varve}"
