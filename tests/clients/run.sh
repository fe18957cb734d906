#!/usr/bin/env bash
# Runs the published HugeGraph clients and loader, a JavaScript program, TinkerPop's drivers and
# console, Neo4j's drivers and Egeria's connector against the built server (see README.md): all of them, or those
# that are named, `run.sh java python`. Then the same with authentication on.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
clients=("$@")
[[ $# -gt 0 ]] || clients=(java python loader javascript gremlin bolt omrs)
server_options=(--set bolt.listen=127.0.0.1:0)
[[ " ${clients[*]} " != *' omrs '* ]] || server_options+=(--set omrs.enabled=true)
source ../start-server.sh
status=0
for client in "${clients[@]}"; do
  echo "-- $client"
  "./$client/run.sh" "$url" || status=1
done
./auth.sh "$@" || status=1
exit $status
