# Sourced by the scripts beside it that measure on nodes of their own, from the top of the checkout.
#
#   start_nodes NAME PORT    builds the server and the example of varve-kv-cassandra, and starts nodes with the whole compiler, which
#                            are removed when the script ends. Sets VARVE_BIN, examples (its folder), VARVE_CASSANDRA_NODES,
#                            VARVE_CASSANDRA_PORT (PORT, unless it is set) and VARVE_CASSANDRA_DIR, a new folder with NAME in its name
#   start_server             starts the server on them and waits until its graph is open. Sets what tests/start-server.sh sets
#
# Environment: VARVE_CASSANDRA_NODES (1, or 3 with each row on all), READY_SECONDS (how long the server may take until its graph is
# open; 120).

start_nodes() { # name, port
  # Of the whole workspace: with less, other features would be chosen, and RocksDB compiled anew.
  scripts/build.sh build --release --locked --workspace --bin varve --bin varve-bench --example commit_cost
  export VARVE_BIN=$PWD/target/release/varve
  examples=$PWD/target/release/examples
  VARVE_CASSANDRA_DIR=$(mktemp -d "${TMPDIR:-/tmp}/varve-$1.XXXXXX")
  export VARVE_CASSANDRA_DIR VARVE_CASSANDRA_NODES=${VARVE_CASSANDRA_NODES:-1} VARVE_CASSANDRA_JIT=full
  export VARVE_CASSANDRA_PORT=${VARVE_CASSANDRA_PORT:-$2}
  # Removes the folder, too, when this script ends.
  scripts/cassandra/cluster.sh start --while $$
}

start_server() {
  local ready_by
  export VARVE_ENGINE=cassandra VARVE_STORAGE_CASSANDRA_CONTACT_POINTS=127.0.0.1:$VARVE_CASSANDRA_PORT
  export VARVE_STORAGE_CASSANDRA_REPLICATION=$VARVE_CASSANDRA_NODES
  source tests/start-server.sh
  # It listens before its graphs are open.
  ready_by=$((SECONDS + ${READY_SECONDS:-120}))
  until curl -sf "$url/graphs/hugegraph" >/dev/null; do
    kill -0 "$server_pid" 2>/dev/null || { echo "the server has ended before its graph was open" >&2; exit 1; }
    ((SECONDS < ready_by)) || { echo "the graph is not open after ${READY_SECONDS:-120} seconds" >&2; exit 1; }
    sleep 0.5
  done
}
