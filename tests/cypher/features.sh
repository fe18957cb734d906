#!/usr/bin/env bash
# Unpacks the feature files of openCypher's TCK, once for this machine, and prints their folder.
set -euo pipefail
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/varve/cypher"
version="$(sed -n 's|.*<version>\(1\.0\.[^<]*\)</version>.*|\1|p' "$here/pom.xml")"
features="$cache/features-$version"
mkdir -p "$cache"
exec 7>"$cache/lock"
flock 7
if [[ ! -f $features/complete ]]; then
  mvn -q -B -f "$here/pom.xml" dependency:unpack-dependencies -DexcludeTransitive=true \
    -Dmdep.unpack.includes='**/*.feature' -DoutputDirectory="$features" \
    -DmarkersDirectory="$features/markers" >&2 7>&-
  touch "$features/complete"
fi
echo "$features"
