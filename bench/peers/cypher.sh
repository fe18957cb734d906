#!/usr/bin/env bash
# Questions in Cypher to the social graph of `varve bench gremlin`, on Varve and on Neo4j, each after a restart: the answers are
# compared; the time and the processor time of the server are medians. Needs Java, Maven, and the package `neo4j`.
#   cypher.sh FOLDER     VERTICES 100000 persons, who know five others each   SECONDS_EACH 5   PYTHON python3
#   VARVE_BIN (target/release/varve)   NEO4J_HEAP 1500m   NEO4J_PAGE_CACHE_MIB 256
set -euo pipefail
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
folder=$(mkdir -p "$1" && cd "$1" && pwd)
python=${PYTHON:-python3} varve=${VARVE_BIN:-$here/../../target/release/varve}
# shellcheck source=../start-neo4j.sh
source "$here/../start-neo4j.sh"

start_varve
"$varve" bench gremlin --url "$url" --run-prefix cmp --vertices "${VERTICES:-100000}" --quiet --scenario gremlin_vertex --model closed \
  --users 1 --hold 1s >/dev/null
start_neo4j
"$python" "$here/cypher.py" copy "$bolt" "$neo4j"
stop_both
start_varve
start_neo4j
"$python" "$here/cypher.py" ask "$bolt" "$varve_pid" "$neo4j" "$neo4j_pid" "${SECONDS_EACH:-5}"
