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
cluster=scripts/cassandra/cluster.sh
singles=single_insert_vertices,single_insert_edges,vertex_by_id,edge_by_id,adjacency
batches=batch_insert_vertices,batch_insert_edges,batch_insert_edges_unchecked
wanted=${1:-$batches,$singles}
unknown=$(tr ',' '\n' <<<"$wanted" | grep -vxFf <(tr ',' '\n' <<<"$batches,$singles") | paste -sd' ' || true)
if [[ -n $unknown ]]; then
  echo "not a scenario of this table: $unknown; there are: ${batches//,/ } ${singles//,/ }" >&2
  exit 2
fi
CARGO_TARGET_DIR=${VARVE_CASSANDRA_TARGET:-${XDG_CACHE_HOME:-$HOME/.cache}/varve/cassandra-target}
export CARGO_TARGET_DIR
# As `cost.sh` builds them, so that nothing is compiled twice.
scripts/cargo.sh build --release --locked -p varve -p varve-kv-cassandra --no-default-features \
  --features varve/cassandra,varve/jemalloc,varve-kv-cassandra/driver --bin varve --example commit_cost
out=${OUT:-$(mktemp -d)}
mkdir -p "$out"
VARVE_CASSANDRA_DIR=$(mktemp -d "${TMPDIR:-/tmp}/varve-load.XXXXXX")
export VARVE_CASSANDRA_DIR VARVE_CASSANDRA_NODES=${VARVE_CASSANDRA_NODES:-1} VARVE_CASSANDRA_JIT=full
export VARVE_CASSANDRA_PORT=${VARVE_CASSANDRA_PORT:-19242}
# Removes the folder, too, when this script ends.
"$cluster" start --while $$
export VARVE_ENGINE=cassandra VARVE_BIN=$CARGO_TARGET_DIR/release/varve
export VARVE_STORAGE_CASSANDRA_CONTACT_POINTS=127.0.0.1:$VARVE_CASSANDRA_PORT
export VARVE_STORAGE_CASSANDRA_REPLICATION=$VARVE_CASSANDRA_NODES
source tests/start-server.sh
# It listens before its graphs are open.
ready_by=$((SECONDS + ${READY_SECONDS:-120}))
until curl -sf "$url/graphs/hugegraph" >/dev/null; do
  kill -0 "$server_pid" 2>/dev/null || { echo "the server has ended before its graph was open" >&2; exit 1; }
  ((SECONDS < ready_by)) || { echo "the graph is not open after ${READY_SECONDS:-120} seconds" >&2; exit 1; }
  sleep 0.5
done

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
