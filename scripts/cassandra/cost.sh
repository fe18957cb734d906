#!/usr/bin/env bash
# Processor time of a server and of the Cassandra nodes for each element that is written or read, beside the bare driver doing the
# same. Starts the nodes with the whole compiler, and removes them.
#
# Environment: VARVE_CASSANDRA_NODES (1, or 3 with each row on all), VARVE_COST_REQUESTS (batches of 500 edges in a round; the other
# operations in proportion; 60), VARVE_COST_ROUNDS (3, and one that does not count).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cluster=scripts/cassandra/cluster.sh
CARGO_TARGET_DIR=${VARVE_CASSANDRA_TARGET:-${XDG_CACHE_HOME:-$HOME/.cache}/varve/cassandra-target}
export CARGO_TARGET_DIR
# Together: apart they would have crates compiled with other features.
scripts/cargo.sh build --release --locked -p varve -p varve-kv-cassandra --no-default-features \
  --features varve/cassandra,varve/jemalloc,varve-kv-cassandra/driver --bin varve --example commit_cost
VARVE_CASSANDRA_DIR=$(mktemp -d "${TMPDIR:-/tmp}/varve-cost.XXXXXX")
export VARVE_CASSANDRA_DIR VARVE_CASSANDRA_NODES=${VARVE_CASSANDRA_NODES:-1} VARVE_CASSANDRA_JIT=full
export VARVE_CASSANDRA_PORT=${VARVE_CASSANDRA_PORT:-19142}
"$cluster" start --while $$
pids=$(cat "$VARVE_CASSANDRA_DIR"/[1-3]/pid | paste -sd,)
"$CARGO_TARGET_DIR/release/examples/commit_cost" --varve "$CARGO_TARGET_DIR/release/varve" \
  --node "127.0.0.1:$VARVE_CASSANDRA_PORT" --node-pids "$pids" --replication "$VARVE_CASSANDRA_NODES" \
  --requests "${VARVE_COST_REQUESTS:-60}" --rounds "${VARVE_COST_ROUNDS:-3}"
