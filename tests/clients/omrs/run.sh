#!/usr/bin/env bash
# Runs Egeria's own REST repository connector against a server: run.sh http://host:port
# `run.sh in-memory` runs the same checks against Egeria's in-memory repository instead (see ../README.md).
# The server's metadata repository must be empty. Prints 'N passed, N failed'; skips without Java 17 or mvn.
set -euo pipefail
[[ $# -eq 1 ]] || { echo "usage: $0 http://host:port | in-memory" >&2; exit 2; }
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
for tool in java mvn; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 0; }
done
major="$(java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.specification.version = //p')"
if [[ ${major%%.*} -lt 17 ]]; then
  echo "skipped: Egeria's connector needs Java 17, this is $major"
  exit 0
fi
cache="${XDG_CACHE_HOME:-$HOME/.cache}/varve/clients/omrs"
mkdir -p "$cache"
mvn -q -B -f "$here/pom.xml" -Dbuild.folder="$cache/target" \
  compile dependency:build-classpath -Dmdep.outputFile="$cache/classpath" >&2
# shellcheck disable=SC2086 # several options
exec java ${VARVE_JAVA_OPTIONS:-} -cp "$cache/target/classes:$(cat "$cache/classpath")" varve.omrs.Main "$1" \
  "$here/../../../crates/varve-omrs/data/open-metadata-types.json"
