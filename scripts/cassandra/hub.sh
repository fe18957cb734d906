#!/usr/bin/env bash
# A vertex with very many edges on a Cassandra node of its own: how many edges a second it takes while it grows, how long the
# first page of its edges takes, and how large the partitions of the cluster are in the end.
#
#   hub.sh [EDGES [PARTITION_MIB]]    200,000 edges and 48 MiB unless told otherwise
#
# The node's data is in a folder below TMPDIR, which is removed at the end: about 500 bytes for each edge.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=scripts/cassandra
source "$here/own-nodes.sh"
start_nodes hub 19542
"$examples/hub" "$("$here/cluster.sh" nodes)" "${1:-200000}" "${2:-48}"
# Ended in order, a node brings everything to its files.
"$here/cluster.sh" stop
"$here/partitions.sh" "$VARVE_CASSANDRA_DIR/1" 'hub_hub_*'
