#!/usr/bin/env bash
# Runs the published HugeGraph loader against a server: run.sh http://host:port
# It loads a CSV and a JSON file with a schema that has indexes; check.py then queries by them.
# The server's graph 'hugegraph' is cleared. Prints 'N passed, N failed'; skips without its tools.
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: $0 http://host:port" >&2; exit 2; }
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
python="${PYTHON:-python3}"
for tool in java mvn "$python"; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 0; }
done
cache="${XDG_CACHE_HOME:-$HOME/.cache}/varve/clients/loader"
mkdir -p "$cache"
mvn -q -B -f "$here/pom.xml" -Dstyle.color=never \
  dependency:build-classpath -Dmdep.outputFile="$cache/classpath" >&2
exec "$python" "$here/check.py" "$1" "$(cat "$cache/classpath")"
