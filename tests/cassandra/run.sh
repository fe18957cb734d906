#!/usr/bin/env bash
# Runs what must hold on Apache Cassandra, against real nodes that it starts and removes: the suite
# of the storage seam, random operations beside the naive model, open graphs, the recorded HugeGraph
# exchanges and HugeGraph's published clients against a server with that engine, then two servers.
# Where VARVE_REQUIRE_CASSANDRA or VARVE_CLUSTER_ROUNDS is set, also faults of three nodes; else a
# line says that they were left out. Without Java 11 or 17 and Maven it says so and passes, or fails
# where VARVE_REQUIRE_CASSANDRA is set.
#
# VARVE_TEST_CASSANDRA=host:port takes a node that runs already for all but the last.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cluster=scripts/cassandra/cluster.sh
if [[ -z ${VARVE_TEST_CASSANDRA:-} ]]; then
  if ! lacks=$("$cluster" can-run); then
    if [[ -n ${VARVE_REQUIRE_CASSANDRA:-} ]]; then
      echo "no Cassandra node can run here, and VARVE_REQUIRE_CASSANDRA wants one: $lacks" >&2
      exit 1
    fi
    echo "skipped: no Cassandra node can run here: $lacks"
    exit 0
  fi
  VARVE_CASSANDRA_DIR=$(mktemp -d "${TMPDIR:-/tmp}/varve-cassandra.XXXXXX")
  export VARVE_CASSANDRA_DIR VARVE_CASSANDRA_NODES=1 VARVE_CASSANDRA_PORT=19042 VARVE_CASSANDRA_HEAP=640m
  # A node that gives up soon where rows were removed: by default it takes 100,000 of them.
  export VARVE_CASSANDRA_EXTRA=$'tombstone_failure_threshold: 4000\ntombstone_warn_threshold: 1000'
  "$cluster" start --while $$
  export VARVE_TEST_CASSANDRA=127.0.0.1:19042
fi

source tests/cassandra/programs.sh

echo '-- the suite of the storage seam'
# Two at a time: a node makes tables one after the other, and that is what the cases mostly wait for.
for target in lib suite takeover quorum consistency tombstones parted crash login tls; do
  program varve-kv-cassandra "$target" -q --test-threads 2
done

echo '-- random lists of operations'
program varve cluster_model --nocapture

echo '-- open graphs, and what a hop asks of the cluster'
program varve process --nocapture --test-threads 2 open_graph frontier

echo '-- recorded exchanges'
export VARVE_BIN=${VARVE_BIN:-$PWD/target/release/varve} VARVE_ENGINE=cassandra
export VARVE_STORAGE_CASSANDRA_CONTACT_POINTS=$VARVE_TEST_CASSANDRA
export VARVE_STORAGE_CASSANDRA_REPLICATION=1
# Listings come in the order of the cluster's tokens.
tests/conformance/run.sh --order any

echo '-- real clients'
tests/clients/run.sh java python

echo '-- a backup while writes go on'
tests/cassandra/backup.sh

echo '-- two servers'
program varve-conformance servers --nocapture
program varve process --nocapture one_directory

# Three nodes take minutes of a small machine: where Cassandra is required, and in the long tests.
if [[ -z ${VARVE_REQUIRE_CASSANDRA:-}${VARVE_CLUSTER_ROUNDS:-} ]]; then
  echo 'left out: faults of three nodes (VARVE_REQUIRE_CASSANDRA=1 or VARVE_CLUSTER_ROUNDS=1 asks for them)'
elif ! lacks=$("$cluster" can-run); then
  echo "left out: faults of three nodes: $lacks"
else
  echo '-- faults of three nodes'
  [[ -z ${VARVE_CASSANDRA_DIR:-} ]] || "$cluster" clean
  # The short form: one node has its turn.
  [[ -n ${VARVE_CLUSTER_ROUNDS:-} ]] || export VARVE_CLUSTER_NODES=${VARVE_CLUSTER_NODES:-1}
  env -u VARVE_CASSANDRA_HEAP -u VARVE_CASSANDRA_EXTRA tests/cassandra/faults.sh
fi
