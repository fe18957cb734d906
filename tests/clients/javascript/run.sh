#!/usr/bin/env bash
# A JavaScript program against the REST interface of a server: run.sh http://host:port
# It has what Node and browsers come with: fetch and JSON.parse, so its numbers are doubles.
# The server's graph 'hugegraph' is cleared. Prints 'N passed, N failed'; skips without Node 18.
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: $0 http://host:port" >&2; exit 2; }
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
node -e 'process.exit(typeof fetch === "function" ? 0 : 1)' 2>/dev/null || { echo "skipped: no node 18"; exit 0; }
exec node "$here/rest.js" "$1"
