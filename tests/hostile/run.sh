#!/usr/bin/env bash
# Hostile clients against the built server: its memory stays within bounds, and others are served (see README.md).
# `run.sh` is the short form; `run.sh --long` sends more and also judges how long others wait, also
# under wrong logins.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 0; }
bin="${VARVE_BIN:-../../target/release/varve}"
[[ ${VARVE_HOSTILE_LONG:-} != 1 ]] || set -- --long "$@"
status=0
python3 -B suite.py "$bin" "$@" || status=1
[[ " $* " != *' --long '* ]] || python3 -B logins.py "$bin" || status=1
exit $status
