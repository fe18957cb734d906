#!/usr/bin/env bash
# Replays the recorded HugeGraph exchanges against the built server (see hugegraph/README.md): once with the paths that
# were recorded, once with those that clients of newer versions use.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# The recorded server had the limits of its version.
server_options=(--set server.max_vertices_per_batch=500 --set server.max_edges_per_batch=500)
for base in '' /graphspaces/DEFAULT; do
  (
    source ../start-server.sh
    tool="$(dirname "$server_bin")/varve-conformance"
    if [[ ! -x $tool ]]; then
      ../../scripts/cargo.sh build --release -q --locked -p varve-conformance
    fi
    echo "-- ${base:-short paths}"
    "$tool" replay --url "$url" --base "$base" "$@"
  )
done
