#!/usr/bin/env bash
# Processor time of a server and of the Cassandra nodes for each element that is written or read, beside the bare driver doing the
# same. Starts the nodes with the whole compiler, and removes them.
#
# Environment: VARVE_CASSANDRA_NODES (1, or 3 with each row on all), VARVE_COST_REQUESTS (batches of 500 edges in a round; the other
# operations in proportion; 60), VARVE_COST_ROUNDS (3, and one that does not count).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source scripts/cassandra/own-nodes.sh
start_nodes cost 19142
pids=$(cat "$VARVE_CASSANDRA_DIR"/[1-3]/pid | paste -sd,)
"$examples/commit_cost" --varve "$VARVE_BIN" \
  --node "127.0.0.1:$VARVE_CASSANDRA_PORT" --node-pids "$pids" --replication "$VARVE_CASSANDRA_NODES" \
  --requests "${VARVE_COST_REQUESTS:-60}" --rounds "${VARVE_COST_ROUNDS:-3}"
