#!/usr/bin/env bash
# Runs random traversals on TinkerGraph and on a server, and compares the answers:
#   tinkergraph.sh http://host:port
# README.md has the environment variables.
set -euo pipefail
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/varve/gremlin/tinkergraph"
mkdir -p "$cache"
(
  flock 7
  mvn -q -B -f "$here/tinkergraph/pom.xml" -Dbuild.folder="$cache/target" \
    compile dependency:build-classpath -Dmdep.outputFile="$cache/classpath" >&2 7>&-
) 7>"$cache/lock"
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=4 -cp "$cache/target/classes:$(cat "$cache/classpath")" \
  varve.tinkergraph.Main "$1" "$here/../../docs/gremlin.md" "$here/../../docs/compatibility.md"
