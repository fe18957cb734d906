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
source tests/cassandra/settings.sh
scripts/cargo.sh build -q --locked -p varve-kv-cassandra --features driver --example hub
work=$(mktemp -d "${TMPDIR:-/tmp}/varve-hub.XXXXXX")
export VARVE_CASSANDRA_DIR=$work/node VARVE_CASSANDRA_NODES=1 VARVE_CASSANDRA_PORT=${VARVE_CASSANDRA_PORT:-19542}
trap '"$here/cluster.sh" clean; rm -rf -- "$work"' EXIT
"$here/cluster.sh" start --while $$
"$CARGO_TARGET_DIR/debug/examples/hub" "$("$here/cluster.sh" nodes)" "${1:-200000}" "${2:-48}"
# Ended in order, a node brings everything to its files.
"$here/cluster.sh" stop
java=java
[[ -z ${JAVA_HOME:-} ]] || java=$JAVA_HOME/bin/java
jars=${XDG_CACHE_HOME:-$HOME/.cache}/varve/cassandra-5.0.9
reach=()
for part in sun.nio.ch jdk.internal.ref jdk.internal.misc; do reach+=("--add-exports=java.base/$part=ALL-UNNAMED"); done
for part in java.io java.nio java.lang java.util jdk.internal.ref sun.nio.ch; do
  reach+=("--add-opens=java.base/$part=ALL-UNNAMED")
done
echo 'the largest partitions in the files of the node, before compression:'
"$java" "${reach[@]}" "-Dcassandra.storagedir=$work/tool" "-Dlogback.configurationFile=$VARVE_CASSANDRA_DIR/1/conf/logback.xml" \
  -cp "$jars/lib/*" org.apache.cassandra.tools.SSTablePartitions --min-size 10000 "$VARVE_CASSANDRA_DIR"/1/data/hub_hub_*/edge-*/ |
  awk '$1 == "Partition:" {
    # A partition may be in several files.
    match($0, /size: [0-9.]+ [KMG]?i?B/); split(substr($0, RSTART, RLENGTH), size, " ")
    match($0, /rows: [0-9]+/); rows[$2] += substr($0, RSTART + 6, RLENGTH - 6)
    bytes[$2] += size[2] * (size[3] == "MiB" ? 1048576 : size[3] == "KiB" ? 1024 : 1)
  }
  END { for (key in bytes) printf "%8.1f MB %9d rows  %s\n", bytes[key] / 1e6, rows[key], key }' | sort -rn | head -n 12
