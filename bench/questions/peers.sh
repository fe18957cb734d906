#!/usr/bin/env bash
# The questions of questions.cypher on Varve, Neo4j and Ladybug: each once as a warm-up, then the median of five, with the
# processor time of the server; then reads of one person over Bolt. Needs Java, Maven, and the packages `neo4j` and `ladybug`.
#   peers.sh FOLDER      PERSONS 100000   PYTHON python3   VARVE_BIN (target/release/varve)
set -euo pipefail
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
folder=$(mkdir -p "$1" && cd "$1" && pwd)
python=${PYTHON:-python3} varve=${VARVE_BIN:-$here/../../target/release/varve}
varve_pid='' neo4j_pid=''
finish() {
  [[ -z $varve_pid ]] || kill "$varve_pid" || true
  exec {input}>&- || true
}
trap finish EXIT

# Starts Varve, and sets its process, `url` and `bolt`.
start_varve() {
  "$varve" serve --listen 127.0.0.1:0 --data-dir "$folder/varve" --set bolt.listen=127.0.0.1:0 >"$folder/varve.log" 2>&1 &
  varve_pid=$!
  for _ in $(seq 1 300); do
    url=$(grep -oE 'serves on https?://[0-9.:]*' "$folder/varve.log" | cut -d' ' -f3) || true
    bolt=$(grep -oE 'bolt://[0-9.:]*' "$folder/varve.log" | head -1) || true
    [[ -z $url || -z $bolt ]] || return 0
    sleep 0.1
  done
  cat "$folder/varve.log"
  return 1
}

"$python" "$here/data.py" "$folder" --persons "${PERSONS:-100000}"
cp "$here/mapping.toml" "$here/schema.json" "$folder"
start_varve
(cd "$folder" && "$varve" load mapping.toml --schema schema.json --server "$url")
# What is asked comes from files.
kill "$varve_pid"
wait "$varve_pid" || true
start_varve

# Neo4j ends when its input does.
exec {input}> >(exec "$here/../../tests/cypher/neo4j/start.sh" "$folder/neo4j" >"$folder/neo4j.log" 2>&1)
neo4j_pid=$!
neo4j=''
for _ in $(seq 1 1200); do
  neo4j=$(grep -oE 'bolt://[0-9.:]*' "$folder/neo4j.log" | head -1) || true
  [[ -z $neo4j ]] || break
  sleep 0.1
done
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
