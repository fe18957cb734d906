#!/usr/bin/env bash
# The load tool's table with Cassandra below: starts a node with the whole compiler, and a server on it, runs the scenarios that
# insert and read, and writes the results and a page of them. Node, server and load tool share this machine.
#
#   load.sh [SCENARIO,…]       into the folder OUT (default: a new one)
#
# Environment: VARVE_CASSANDRA_NODES (1, or 3 with each row on all), HOLD (seconds for each scenario; 8), USERS (64), BATCH_USERS (8),
# READY_SECONDS (how long the server may take until its graph is open; 120).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/cassandra/own-nodes.sh
singles=single_insert_vertices,single_insert_edges,vertex_by_id,edge_by_id,adjacency
batches=batch_insert_vertices,batch_insert_edges,batch_insert_edges_unchecked
wanted=${1:-$batches,$singles}
unknown=$(tr ',' '\n' <<<"$wanted" | grep -vxFf <(tr ',' '\n' <<<"$batches,$singles") | paste -sd' ' || true)
if [[ -n $unknown ]]; then
  echo "not a scenario of this table: $unknown; there are: ${batches//,/ } ${singles//,/ }" >&2
  exit 2
fi
out=${OUT:-$(mktemp -d)}
mkdir -p "$out"
start_nodes load 19242
start_server

results=()
load() { # name, users, scenarios
  [[ -n $3 ]] || return 0
  "$VARVE_BIN" bench api --name "varve on cassandra" --url "$url" --server-pid "$server_pid" --scenario "$3" --model closed \
    --users "$2" --warmup 2s --hold "${HOLD:-8}s" --vertices 20000 --edges 40000 --json "$out/$1.json" --quiet
  results+=("$out/$1.json")
}
chosen() { tr ',' '\n' <<<"$wanted" | grep -xFf <(tr ',' '\n' <<<"$1") | paste -sd, || true; }
load batches "${BATCH_USERS:-8}" "$(chosen "$batches")"
load singles "${USERS:-64}" "$(chosen "$singles")"
"$VARVE_BIN" bench report "${results[@]}" -o "$out/report.html"
echo "results and page: $out"
