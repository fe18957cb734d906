#!/usr/bin/env bash
# Builds the server for Apache Cassandra with the release profile, without RocksDB, in a target folder of its own:
# in that of the other builds it would have RocksDB compiled anew. `target-cassandra` in the checkout is a link to it.
set -euo pipefail
cd "$(dirname "$0")/../.."
CARGO_TARGET_DIR=${XDG_CACHE_HOME:-$HOME/.cache}/varve/cassandra-target
export CARGO_TARGET_DIR
scripts/cargo.sh build --release --locked -p varve --no-default-features --features cassandra,jemalloc --bin varve
ln -sfn "$CARGO_TARGET_DIR" target-cassandra
