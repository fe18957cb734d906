#!/usr/bin/env bash
# Neo4j's drivers, and what is built on them, against a server whose Bolt is at BOLT_URL:
#   run.sh http://host:port [python|javascript|java|go|langchain|neomodel|graphiti|mcp|graphql]...
# With VARVE_USER and VARVE_PASSWORD they log in. The server's graph 'hugegraph' is cleared, and its open graph
# 'boltcheck' is made and dropped. Each prints 'N passed, N failed'; one whose tools are missing is skipped.
set -uo pipefail
[[ $# -ge 1 ]] || { echo "usage: $0 http://host:port [client]..." >&2; exit 2; }
: "${BOLT_URL:?names no address of Bolt}"
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/varve/clients/bolt"
url="$1"
shift
clients=("$@")
[[ $# -gt 0 ]] || clients=(python javascript java go langchain neomodel graphiti mcp graphql)
graph=boltcheck

missing() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; return 0; }
  done
  return 1
}

no_python() {
  python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && return 1
  echo "skipped: no python 3.10 with venv"
}

# An environment of Python with these packages: environment NAME MODULE PACKAGE...
environment() {
  local venv="$cache/$1" module="$2"
  shift 2
  "$venv/bin/python" -c "import $module" 2>/dev/null && return
  python3 -m venv "$venv" >&2 && "$venv/bin/pip" install -q "$@" >&2
}

send() { # METHOD PATH [BODY]
  curl -sS --fail -o /dev/null ${VARVE_USER:+-u "$VARVE_USER:$VARVE_PASSWORD"} -X "$1" -H 'Content-Type: application/json' \
    ${3:+-d "$3"} "$url$2"
}

# The second is the last of those that speak 4.4 only.
run_python() {
  no_python && return 0
  local version failed=0
  for version in 6.4.1 4.4.13; do
    local packages=("neo4j==$version") modules=neo4j
    # For addresses with http://.
    [[ $version == 4.* ]] || { packages=("neo4j[http]==$version") modules="neo4j, aiohttp, urllib3"; }
    environment "python-$version" "$modules" "${packages[@]}" || return 1
    "$cache/python-$version/bin/python" -W ignore "$here/check.py" "$url" "$BOLT_URL" || failed=1
  done
  return $failed
}

run_javascript() {
  missing node npm && return 0
  local modules="$cache/javascript-6.3.0"
  if [[ ! -d $modules/node_modules/neo4j-driver ]]; then
    mkdir -p "$modules"
    npm install --silent --no-audit --no-fund --prefix "$modules" neo4j-driver@6.3.0 >&2 || return 1
  fi
  NODE_PATH="$modules/node_modules" node "$here/check.js" "$BOLT_URL"
}

run_java() {
  missing java mvn && return 0
  local built="$cache/java"
  mkdir -p "$built"
  mvn -q -B -f "$here/java/pom.xml" -Dbuild.folder="$built/target" \
    compile dependency:build-classpath -Dmdep.outputFile="$built/classpath" >&2 || return 1
  java -cp "$built/target/classes:$(cat "$built/classpath")" varve.clients.Main "$BOLT_URL" "$graph"
}

run_go() {
  missing go && return 0
  (cd "$here/go" && go build -o "$cache/go-check" .) >&2 || return 1
  "$cache/go-check" "$BOLT_URL" "$graph"
}

run_langchain() {
  no_python && return 0
  environment langchain-0.11.0 langchain_neo4j langchain-neo4j==0.11.0 || return 1
  "$cache/langchain-0.11.0/bin/python" -W ignore "$here/check_langchain.py" "$BOLT_URL" "$graph"
}

run_neomodel() {
  no_python && return 0
  environment neomodel-7.0.0 neomodel neomodel==7.0.0 || return 1
  "$cache/neomodel-7.0.0/bin/python" -W ignore "$here/models.py" "$BOLT_URL" "$graph"
}

run_graphiti() {
  no_python && return 0
  environment graphiti-0.31.2 graphiti_core.nodes graphiti-core==0.31.2 httpx || return 1
  "$cache/graphiti-0.31.2/bin/python" -W ignore "$here/check_graphiti.py" "$BOLT_URL" "$graph"
}

run_mcp() {
  no_python && return 0
  local venv="$cache/mcp-1.6.1"
  environment mcp-1.6.1 neo4j_mcp_server neo4j-mcp-server==1.6.1 || return 1
  "$venv/bin/python" "$here/check_mcp.py" "$venv/bin/neo4j-mcp-server" "$BOLT_URL" "$graph"
}

run_graphql() {
  missing node npm && return 0
  local modules="$cache/graphql-7.6.3"
  if [[ ! -d $modules/node_modules/@neo4j/graphql ]]; then
    mkdir -p "$modules"
    npm install --silent --no-audit --no-fund --prefix "$modules" \
      @neo4j/graphql@7.6.3 graphql@16.15.0 neo4j-driver@6.3.0 >&2 || return 1
  fi
  NODE_PATH="$modules/node_modules" node "$here/graphql.js" "$BOLT_URL" "$graph"
}

status=0
mkdir -p "$cache"
drop() { send DELETE "/graphs/$graph?confirm_message=I'm+sure+to+drop+the+graph"; }
# What an earlier run left.
drop 2>/dev/null || true
send POST "/graphs/$graph" '{"schema":"open"}' || { echo "FAILED: the graph cannot be made"; exit 1; }
for client in "${clients[@]}"; do
  echo "- $client"
  "run_$client" || status=1
done
drop || status=1
exit $status
