#!/usr/bin/env bash
# Runs the published HugeGraph Python client against a server: run.sh http://host:port
# With VARVE_USER and VARVE_PASSWORD, an administrator, its auth calls too.
# The server's graph 'hugegraph' is cleared. Prints 'N passed, N failed'; skips without Python >= 3.10.
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: $0 http://host:port" >&2; exit 2; }
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
python="${PYTHON:-python3}"
command -v "$python" >/dev/null || { echo "skipped: no python"; exit 0; }
"$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
  { echo "skipped: no python 3.10 with venv"; exit 0; }
cache="${XDG_CACHE_HOME:-$HOME/.cache}/varve/clients/python"
mkdir -p "$cache"
if ! "$cache/venv/bin/python" -c 'import pyhugegraph' 2>/dev/null; then
  "$python" -m venv "$cache/venv" >&2
  "$cache/venv/bin/pip" install -q -r "$here/requirements.txt" >&2
fi
cd "$cache" # the client writes its log beside the caller
status=0
"$cache/venv/bin/python" "$here/check.py" "$1" || status=1
if [[ -n ${VARVE_USER:-} ]]; then
  "$cache/venv/bin/python" "$here/auth_check.py" "$1" "$VARVE_USER" "$VARVE_PASSWORD" || status=1
fi
exit $status
