#!/usr/bin/env bash
# Runs what must hold on Apache Cassandra against a real node that it starts and removes: the suite of the storage seam,
# then the recorded HugeGraph exchanges against a server with that engine. Without Java 11 or 17 and Maven it says so and passes,
# or fails where VARVE_REQUIRE_CASSANDRA is set.
#
# The server is built without RocksDB in a target folder of its own: with the driver's macros in it, the build of the whole
# workspace would compile RocksDB anew. VARVE_TEST_CASSANDRA=host:port takes a node that runs already.
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
  "$cluster" start --while $$
  export VARVE_TEST_CASSANDRA=127.0.0.1:19042
fi

export CARGO_TARGET_DIR=${VARVE_CASSANDRA_TARGET:-${XDG_CACHE_HOME:-$HOME/.cache}/varve/cassandra-target}
# Our crates are not optimised: compiling them so would take longer than the tests do.
plain=(--config profile.dev.package.varve.opt-level=0)
for crate in graph server omrs bench encoding model kv testkit kv-cassandra; do
  plain+=(--config "profile.dev.package.varve-$crate.opt-level=0")
done

echo '-- lints'
scripts/cargo.sh "${plain[@]}" clippy -q --locked -p varve-kv-cassandra --features driver --all-targets -- -D warnings

echo '-- the suite of the storage seam'
# Two at a time: a node makes tables one after the other, and that is what the cases mostly wait for.
scripts/cargo.sh "${plain[@]}" test -q --locked -p varve-kv-cassandra --features driver -- --test-threads 2

echo '-- recorded exchanges'
scripts/cargo.sh "${plain[@]}" build -q --locked -p varve --no-default-features --features cassandra --bin varve
scripts/cargo.sh "${plain[@]}" build -q --locked -p varve-conformance
export VARVE_BIN=$CARGO_TARGET_DIR/debug/varve VARVE_ENGINE=cassandra
export VARVE_STORAGE_CASSANDRA_CONTACT_POINTS=$VARVE_TEST_CASSANDRA
export VARVE_STORAGE_CASSANDRA_REPLICATION=1
# Listings come in the order of the cluster's tokens.
tests/conformance/run.sh --order any
