#!/usr/bin/env bash
# A vertex with very many edges, through the server: how many edges a second it takes while it grows, how long the first page of
# its edges takes, and how large the partitions of the cluster are in the end. Node, server and client share this machine.
#
#   supernode.sh [EDGES]    2,000,000 unless told otherwise; about 500 bytes of disk for each, below TMPDIR, removed at the end
#
# Environment: VARVE_CASSANDRA_NODES (1, or 3 with each row on all), READY_SECONDS (how long the server may take until its graph
# is open; 120).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=scripts/cassandra
source "$here/own-nodes.sh"
start_nodes supernode 19642
start_server
python3 "$here/supernode.py" "$url" "${1:-2000000}"
kill "$server_pid" && wait "$server_pid"
# Ended in order, a node brings everything to its files.
"$here/cluster.sh" stop
"$here/partitions.sh" "$VARVE_CASSANDRA_DIR/1" "${VARVE_STORAGE_CASSANDRA_KEYSPACE}_*"
