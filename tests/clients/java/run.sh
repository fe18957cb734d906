#!/usr/bin/env bash
# Runs the published HugeGraph Java client against a server: run.sh http://host:port
# The server's graph 'hugegraph' is cleared. Prints 'N passed, N failed'; skips without java or mvn.
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: $0 http://host:port" >&2; exit 2; }
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
for tool in java mvn; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 0; }
done
cache="${XDG_CACHE_HOME:-$HOME/.cache}/varve/clients/java"
mkdir -p "$cache"
mvn -q -B -f "$here/pom.xml" -Dbuild.folder="$cache/target" \
  compile dependency:build-classpath -Dmdep.outputFile="$cache/classpath" >&2
exec java -Dlog4j2.level=OFF -cp "$cache/target/classes:$(cat "$cache/classpath")" \
  varve.clients.Main "$1"
