#!/usr/bin/env bash
# The questions of questions.cypher on Varve, Neo4j and Ladybug: each once as a warm-up, then the median of five, with the
# processor time of the server; then reads of one person over Bolt. Needs Java, Maven, and the packages `neo4j` and `ladybug`.
#   peers.sh FOLDER      PERSONS 100000   PYTHON python3   VARVE_BIN (target/release/varve)
set -euo pipefail
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
folder=$(mkdir -p "$1" && cd "$1" && pwd)
python=${PYTHON:-python3} varve=${VARVE_BIN:-$here/../../target/release/varve}
# shellcheck source=../start-neo4j.sh
source "$here/../start-neo4j.sh"

"$python" "$here/data.py" "$folder" --persons "${PERSONS:-100000}"
cp "$here/mapping.toml" "$here/schema.json" "$folder"
start_varve
(cd "$folder" && "$varve" load mapping.toml --schema schema.json --server "$url")
# What is asked comes from files.
stop_varve
start_varve

start_neo4j
"$python" "$here/peers.py" load "$neo4j" "$folder"

echo '-- Varve'
"$python" "$here/ask.py" --bolt "$bolt" --pid "$varve_pid"
"$python" "$here/peers.py" reads "$bolt" hugegraph "$varve_pid"
echo '-- Neo4j'
"$python" "$here/ask.py" --bolt "$neo4j" --graph neo4j --pid "$neo4j_pid"
"$python" "$here/peers.py" reads "$neo4j" neo4j "$neo4j_pid"
echo '-- Ladybug, in the process of its client'
rm -rf "$folder/ladybug"
"$python" "$here/peers.py" ladybug "$folder/ladybug" "$folder"
