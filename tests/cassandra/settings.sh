# Sourced by the scripts beside it: how what they test is built.
#
# The server is built without RocksDB in a target folder of its own: with the driver's macros in it, the build of the whole
# workspace would compile RocksDB anew.
export CARGO_TARGET_DIR=${VARVE_CASSANDRA_TARGET:-${XDG_CACHE_HOME:-$HOME/.cache}/varve/cassandra-target}
# Our crates are not optimised: compiling them so would take longer than the tests do.
plain=(--config profile.dev.package.varve.opt-level=0)
for crate in graph server omrs bench encoding model kv testkit kv-cassandra kv-parted view traversal query gremlin graphson; do
  plain+=(--config "profile.dev.package.varve-$crate.opt-level=0")
done
varve_on_cassandra=(--locked -p varve --no-default-features --features cassandra)
