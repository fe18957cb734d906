# shellcheck shell=bash
# Starts Varve and Neo4j for a comparison: to be sourced. `varve` is the program, `folder` where both keep their data.
# Both end with the script.
varve_pid='' neo4j_pid='' input=''
stop_varve() {
  [[ -z $varve_pid ]] || { kill "$varve_pid" && wait "$varve_pid"; } || true
  varve_pid=''
}
# Neo4j ends when its input does.
stop_neo4j() {
  [[ -z $input ]] || exec {input}>&-
  [[ -z $neo4j_pid ]] || while kill -0 "$neo4j_pid" 2>/dev/null; do sleep 0.1; done
  input='' neo4j_pid=''
}
stop_both() {
  stop_varve
  stop_neo4j
}
trap stop_both EXIT

# Sets the process, `url` and `bolt`.
start_varve() {
  "$varve" serve --listen 127.0.0.1:0 --data-dir "$folder/varve" --set bolt.listen=127.0.0.1:0 >"$folder/varve.log" 2>&1 &
  varve_pid=$!
  for _ in $(seq 1 600); do
    url=$(grep -oE 'serves on https?://[0-9.:]*' "$folder/varve.log" | cut -d' ' -f3) || true
    bolt=$(grep -oE 'bolt://[0-9.:]*' "$folder/varve.log" | head -1) || true
    [[ -z $url || -z $bolt ]] || return 0
    sleep 0.1
  done
  cat "$folder/varve.log"
  return 1
}

# Sets the process and `neo4j`, its address.
start_neo4j() {
  : >"$folder/neo4j.log"
  exec {input}> >(exec "$(dirname "${BASH_SOURCE[0]}")/../tests/cypher/neo4j/start.sh" "$folder/neo4j" >"$folder/neo4j.log" 2>&1)
  neo4j_pid=$!
  for _ in $(seq 1 1800); do
    neo4j=$(grep -oE 'bolt://[0-9.:]*' "$folder/neo4j.log" | head -1) || true
    [[ -z $neo4j ]] || return 0
    sleep 0.1
  done
  cat "$folder/neo4j.log"
  return 1
}
