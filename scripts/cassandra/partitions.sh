#!/usr/bin/env bash
# The largest partitions of all tables in the files of a node that has ended in order, before compression, each with its table.
#
#   partitions.sh NODE_FOLDER KEYSPACE_PATTERN     such as `…/node/1` and `hub_hub_*`
set -euo pipefail
node=$1 keyspaces=$2
java=java
[[ -z ${JAVA_HOME:-} ]] || java=$JAVA_HOME/bin/java
jars=${XDG_CACHE_HOME:-$HOME/.cache}/varve/cassandra-5.0.9
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
reach=()
for part in sun.nio.ch jdk.internal.ref jdk.internal.misc; do reach+=("--add-exports=java.base/$part=ALL-UNNAMED"); done
for part in java.io java.nio java.lang java.util jdk.internal.ref sun.nio.ch; do
  reach+=("--add-opens=java.base/$part=ALL-UNNAMED")
done
echo 'the largest partitions in the files of the node, before compression:'
# shellcheck disable=SC2086  # the pattern is one
"$java" "${reach[@]}" "-Dcassandra.storagedir=$scratch" "-Dlogback.configurationFile=$node/conf/logback.xml" \
  -cp "$jars/lib/*" org.apache.cassandra.tools.SSTablePartitions --min-size 10000 "$node"/data/$keyspaces/*/ |
  awk '$1 == "Processing" {
    # Without what tells a table from others of its name.
    table = $2; sub(/-[^-]*$/, "", table); sub(/^.*[.]/, "", table)
  }
  $1 == "Partition:" {
    # A partition may be in several files.
    match($0, /size: [0-9.]+ [KMG]?i?B/); split(substr($0, RSTART, RLENGTH), size, " ")
    match($0, /rows: [0-9]+/); rows[table " " $2] += substr($0, RSTART + 6, RLENGTH - 6)
    bytes[table " " $2] += size[2] * (size[3] == "GiB" ? 1073741824 : size[3] == "MiB" ? 1048576 : size[3] == "KiB" ? 1024 : 1)
  }
  END { for (key in bytes) printf "%8.1f MB %9d rows  %s\n", bytes[key] / 1e6, rows[key], key }' | sort -rn | head -n 12
