#!/usr/bin/env bash
# Neo4j's drivers against a server whose Bolt is at BOLT_URL: run.sh http://host:port
# With VARVE_USER and VARVE_PASSWORD they log in. The server's graph 'hugegraph' is cleared. Each
# prints 'N passed, N failed'; one whose tools are missing is skipped.
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: $0 http://host:port" >&2; exit 2; }
: "${BOLT_URL:?names no address of Bolt}"
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/varve/clients/bolt"
status=0
# The second is the last of those that speak 4.4 only.
for version in 6.4.1 4.4.13; do
  if ! python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    echo "skipped: no python 3.10 with venv"
    break
  fi
  venv="$cache/python-$version"
  if ! "$venv/bin/python" -c 'import neo4j' 2>/dev/null; then
    python3 -m venv "$venv" >&2
    "$venv/bin/pip" install -q "neo4j==$version" >&2
  fi
  "$venv/bin/python" -W ignore "$here/check.py" "$1" "$BOLT_URL" || status=1
done
if command -v npm >/dev/null; then
  modules="$cache/javascript"
  if [[ ! -d $modules/node_modules/neo4j-driver ]]; then
    mkdir -p "$modules"
    npm install --silent --no-audit --no-fund --prefix "$modules" neo4j-driver@6.3.0 >&2
  fi
  NODE_PATH="$modules/node_modules" node "$here/check.js" "$BOLT_URL" || status=1
else
  echo "skipped: no npm"
fi
exit $status
