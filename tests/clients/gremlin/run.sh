#!/usr/bin/env bash
# Runs TinkerPop's published drivers against a server:
#   run.sh http://host:port [python|java|javascript|go]...
# The server's graph 'hugegraph' is cleared and filled. Each driver prints 'N passed, N failed', or
# 'skipped: …' without its tools.
set -uo pipefail
[[ $# -ge 1 ]] || { echo "usage: $0 http://host:port [driver]..." >&2; exit 2; }
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
url="$1"
socket="ws://${url#http://}/gremlin"
shift
drivers=("$@")
[[ $# -gt 0 ]] || drivers=(python java javascript go)
python="${PYTHON:-python3}"
caches="${XDG_CACHE_HOME:-$HOME/.cache}/varve/clients"
command -v "$python" >/dev/null || { echo "skipped: no python"; exit 0; }

missing() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; return 0; }
  done
  return 1
}

# Two generations, each with its own environment.
run_python() {
  local version cache="$caches/gremlinpython" failed=0
  for version in 3.7.3 3.8.1; do
    if ! "$cache/$version/bin/python" -c 'import gremlin_python' 2>/dev/null; then
      "$python" -m venv "$cache/$version" >&2 && "$cache/$version/bin/pip" install -q "gremlinpython==$version" >&2 || return 1
    fi
    echo "gremlinpython $version"
    "$cache/$version/bin/python" "$here/python/check.py" "$socket" || failed=1
  done
  return $failed
}

run_java() {
  missing java mvn && return 0
  local cache="$caches/gremlin-java"
  mkdir -p "$cache"
  mvn -q -B -f "$here/java/pom.xml" -Dbuild.folder="$cache/target" \
    compile dependency:build-classpath -Dmdep.outputFile="$cache/classpath" >&2 || return 1
  java -cp "$cache/target/classes:$(cat "$cache/classpath")" varve.clients.Main "$socket"
}

run_javascript() {
  missing node npm && return 0
  local cache="$caches/gremlin-javascript"
  mkdir -p "$cache"
  if ! cmp -s "$here/javascript/package.json" "$cache/package.json"; then
    cp "$here/javascript/package.json" "$cache/"
    npm --prefix "$cache" install --silent --no-audit --no-fund >&2 || { rm "$cache/package.json"; return 1; }
  fi
  (cd "$cache" && node "$here/javascript/check.js" "$socket")
}

run_go() {
  missing go && return 0
  local cache="$caches/gremlin-go"
  mkdir -p "$cache"
  (cd "$here/go" && go build -o "$cache/check" .) >&2 || return 1
  "$cache/check" "$socket"
}

status=0
"$python" "$here/fill.py" "$url" || exit 1
for driver in "${drivers[@]}"; do
  echo "- $driver"
  "run_$driver" || status=1
done
exit $status
