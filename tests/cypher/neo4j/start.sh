#!/usr/bin/env bash
# Builds and starts Neo4j's community edition with data in FOLDER, and prints "serves on bolt://…". It stops when its input ends.
#   start.sh FOLDER
set -euo pipefail
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/varve/cypher/neo4j"
mkdir -p "$cache" "$1"
(
  flock 7
  mvn -q -B -f "$here/pom.xml" -Dbuild.folder="$cache/target" \
    compile dependency:build-classpath -Dmdep.outputFile="$cache/classpath" </dev/null >&2 7>&-
) 7>"$cache/lock"
exec java -Xmx"${NEO4J_HEAP:-1500m}" -XX:+UseSerialGC --add-opens=java.base/java.nio=ALL-UNNAMED \
  --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/sun.nio.ch=ALL-UNNAMED \
  -cp "$cache/target/classes:$(cat "$cache/classpath")" varve.neo4j.Main "$1" "${NEO4J_PAGE_CACHE_MIB:-256}"
