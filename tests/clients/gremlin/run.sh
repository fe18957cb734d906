#!/usr/bin/env bash
# Runs TinkerPop's published drivers against a server:
#   run.sh http://host:port [python|java|console|javascript|go]...
# The server's graph 'hugegraph' is cleared and filled. Each driver prints 'N passed, N failed', or
# 'skipped: …' without its tools.
set -uo pipefail
[[ $# -ge 1 ]] || { echo "usage: $0 http://host:port [driver]..." >&2; exit 2; }
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
url="$1"
socket="ws://${url#http://}/gremlin"
shift
drivers=("$@")
if [[ $# -eq 0 && -n ${VARVE_USER:-} && ${VARVE_TEST_LANE:-} == merge ]]; then
  # The console logs in by gremlin-driver.
  drivers=(python java javascript go)
elif [[ $# -eq 0 ]]; then
  drivers=(python java console javascript go)
fi
python="${PYTHON:-python3}"
caches="${XDG_CACHE_HOME:-$HOME/.cache}/varve/clients"
command -v "$python" >/dev/null || { echo "skipped: no python"; exit 0; }

missing() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; return 0; }
  done
  return 1
}

# Runs the program that docs/applications.md has in a language, with a graph as the page makes it.
#   program BLOCK FILE COMMAND...
# The command gets FILE, which holds the program with the server's address.
program() {
  local block="$1" file="$2" printed
  # The page has a server without authentication.
  [[ -z ${VARVE_USER:-} ]] || return 0
  shift 2
  curl -sS --fail-with-body "$url/graphs/app" -X DELETE -G -d "confirm_message=I'm sure to drop the graph" >/dev/null 2>&1
  block sh >"$file" && bash "$file" >/dev/null 2>&1 || { echo "the graph of docs/applications.md was not made"; return 1; }
  block "$block" >"$file"
  printed="$("$@" "$file" | tr -d "[]' " | paste -sd ' ')"
  if [[ $printed == 'Bob 2 Eve' ]]; then echo 'docs/applications.md: 1 passed, 0 failed'; return 0; fi
  echo "docs/applications.md printed: $printed"
  echo 'docs/applications.md: 0 passed, 1 failed'
  return 1
}

# The first block of docs/applications.md in a language, with the server's address.
block() {
  local host="${url#http://}"
  awk -v start="\`\`\`$1" '$0 == start { on = 1; next } /^```$/ { on = 0 } on' "$here/../../../docs/applications.md" |
    sed "s/localhost:8080/$host/; s/127.0.0.1:8080/$host/; s/\"localhost\"/\"${host%:*}\"/; s/port(8080)/port(${host#*:})/"
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
  program python "$cache/application.py" "$cache/$version/bin/python" || failed=1
  return $failed
}

run_java() {
  missing java mvn && return 0
  local cache="$caches/gremlin-java"
  mkdir -p "$cache"
  mvn -q -B -f "$here/java/pom.xml" -Dbuild.folder="$cache/target" \
    compile dependency:build-classpath -Dmdep.outputFile="$cache/classpath" >&2 || return 1
  java -cp "$cache/target/classes:$(cat "$cache/classpath")" varve.clients.Main "$socket" || return 1
  program java "$cache/Application.java" java -cp "$(cat "$cache/classpath")"
}

# The console comes with the configuration that its users have.
run_console() {
  missing java mvn && return 0
  local version=3.7.3 cache="$caches/gremlin-console"
  local folder="$cache/apache-tinkerpop-gremlin-console-$version"
  if [[ ! -e $folder/bin/gremlin.sh ]]; then
    mvn -q -B dependency:unpack -f "$here/java/pom.xml" -Dbuild.folder="$cache/target" -DoutputDirectory="$cache" \
      -Dartifact="org.apache.tinkerpop:gremlin-console:$version:zip:distribution" >&2 || return 1
  fi
  "$python" "$here/console/check.py" "$folder" "$url"
}

run_javascript() {
  missing node npm && return 0
  local cache="$caches/gremlin-javascript"
  mkdir -p "$cache"
  if ! cmp -s "$here/javascript/package.json" "$cache/package.json"; then
    cp "$here/javascript/package.json" "$cache/"
    npm --prefix "$cache" install --silent --no-audit --no-fund >&2 || { rm "$cache/package.json"; return 1; }
  fi
  (cd "$cache" && node "$here/javascript/check.js" "$socket") || return 1
  program js "$cache/application.js" node
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
