#!/usr/bin/env bash
# Compares the built server with Neo4j, and with Ladybug where its dialect allows (see README.md). `make long-test` runs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for tool in java mvn; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 0; }
done
if ! python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  echo 'skipped: no Python 3.11 or later with venv is here'
  exit 0
fi
cache="${XDG_CACHE_HOME:-$HOME/.cache}/varve/cypher/neo4j"
environment="$cache/python"
mkdir -p "$cache"
wanted="$(sha256sum requirements.txt | cut -d' ' -f1)"
if [[ "$(cat "$environment/installed" 2>/dev/null)" != "$wanted" ]]; then
  log="$(mktemp)"
  if ! { python3 -m venv --clear "$environment" && "$environment/bin/pip" install --quiet -r requirements.txt; } >"$log" 2>&1; then
    tail -3 "$log"
    echo 'skipped: the packages could not be installed'
    exit 0
  fi
  echo "$wanted" >"$environment/installed"
fi

VARVE_ENGINE="${VARVE_ENGINE:-memory}"
server_options=(--set bolt.listen=127.0.0.1:0)
source ../../start-server.sh
for graph in differential questions; do
  curl -sSf -X POST "$url/graphs/$graph" -H 'content-type: application/json' -d '{"schema":"open"}' >/dev/null
done
# Neo4j ends when its input does.
exec {input}> >(exec ./start.sh "$server_data/neo4j" >"$server_data/neo4j.log" 2>&1)
trap 'exec {input}>&-; stop_server' EXIT
for _ in $(seq 1 1200); do # at most two minutes
  NEO4J_URL="$(grep -oE 'bolt://[0-9.:]*' "$server_data/neo4j.log" | head -1)" || true
  [[ -z $NEO4J_URL ]] || break
  sleep 0.1
done
[[ -n $NEO4J_URL ]] || { echo 'Neo4j did not start:'; cat "$server_data/neo4j.log"; exit 1; }

status=0
"$environment/bin/python" questions.py "$NEO4J_URL" "$BOLT_URL" || status=1
"$environment/bin/python" compare.py "$NEO4J_URL" "$BOLT_URL" --statements "${VARVE_TEST_NEO4J_STATEMENTS:-300}" \
  ${VARVE_TEST_NEO4J_SEED:+--seed "$VARVE_TEST_NEO4J_SEED"} || status=1
exit $status
