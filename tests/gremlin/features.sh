#!/usr/bin/env bash
# Unpacks the feature files of TinkerPop's gremlin-test and the graph `grateful`, once for this
# machine, and prints their folder.
set -euo pipefail
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/varve/gremlin"
version="$(sed -n 's|.*<version>\(3[0-9.]*\)</version>.*|\1|p' "$here/pom.xml")"
features="$cache/features-$version"
mkdir -p "$cache"
exec 7>"$cache/lock"
flock 7
if [[ ! -f $features/complete-2 ]]; then
  mvn -q -B -f "$here/pom.xml" dependency:unpack-dependencies -DexcludeTransitive=true \
    -Dmdep.unpack.includes='**/*.feature,**/grateful-dead.xml' -DoutputDirectory="$features" \
    -DmarkersDirectory="$features/markers-2" >&2 7>&-
  touch "$features/complete-2"
fi
echo "$features"
