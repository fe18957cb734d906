#!/usr/bin/env bash
# A vertex with very many edges, through the server: how many edges a second it takes while it grows, how long the first page of
# its edges takes, and how large the partitions of the cluster are in the end. Node, server and client share this machine.
# `hub.sh` is the same below the graph.
#
#   supernode.sh [EDGES]    2,000,000 unless told otherwise; about 500 bytes of disk for each, below TMPDIR, removed at the end
#
# Environment: VARVE_CASSANDRA_NODES (1, or 3 with each row on all).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=scripts/cassandra
CARGO_TARGET_DIR=${VARVE_CASSANDRA_TARGET:-${XDG_CACHE_HOME:-$HOME/.cache}/varve/cassandra-target}
export CARGO_TARGET_DIR
# As `cost.sh` builds them, so that nothing is compiled twice.
scripts/cargo.sh build --release --locked -p varve -p varve-kv-cassandra --no-default-features \
  --features varve/cassandra,varve/jemalloc,varve-kv-cassandra/driver --bin varve --example commit_cost
VARVE_CASSANDRA_DIR=$(mktemp -d "${TMPDIR:-/tmp}/varve-supernode.XXXXXX")
export VARVE_CASSANDRA_DIR VARVE_CASSANDRA_NODES=${VARVE_CASSANDRA_NODES:-1} VARVE_CASSANDRA_JIT=full
export VARVE_CASSANDRA_PORT=${VARVE_CASSANDRA_PORT:-19642}
# Removes the folder, too, when this script ends.
"$here/cluster.sh" start --while $$
export VARVE_ENGINE=cassandra VARVE_BIN=$CARGO_TARGET_DIR/release/varve
export VARVE_STORAGE_CASSANDRA_CONTACT_POINTS=127.0.0.1:$VARVE_CASSANDRA_PORT
export VARVE_STORAGE_CASSANDRA_REPLICATION=$VARVE_CASSANDRA_NODES
source tests/start-server.sh
python3 "$here/supernode.py" "$url" "${1:-2000000}"
kill "$server_pid" && wait "$server_pid"
# Ended in order, a node brings everything to its files.
"$here/cluster.sh" stop
"$here/partitions.sh" "$VARVE_CASSANDRA_DIR/1" "${VARVE_STORAGE_CASSANDRA_KEYSPACE}_*"
