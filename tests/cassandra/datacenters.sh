#!/usr/bin/env bash
# Two servers on three Cassandra nodes with a datacenter each (datacenters.py says what is done and what must hold): nodes and
# servers are killed one after the other. Starts and removes the nodes; takes some five minutes. VARVE_BIN says which server.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cluster=$PWD/scripts/cassandra/cluster.sh
if ! lacks=$("$cluster" can-run); then
  echo "skipped: no Cassandra node can run here: $lacks"
  exit 0
fi
VARVE_CASSANDRA_DIR=$(mktemp -d "${TMPDIR:-/tmp}/varve-datacenters.XXXXXX")
export VARVE_CASSANDRA_DIR VARVE_CASSANDRA_NODES=3 VARVE_CASSANDRA_PORT=19742 VARVE_CASSANDRA_DATACENTERS=dc1,dc2,dc3
"$cluster" start --while $$
python3 tests/cassandra/datacenters.py "$cluster" "${VARVE_BIN:-$PWD/target/release/varve}" "$VARVE_CASSANDRA_PORT"
