#!/usr/bin/env bash
# Replays the recorded HugeGraph exchanges against the built server (see hugegraph/README.md): once
# with the paths that were recorded, once with those that clients of newer versions use; then the
# recorded traversers, on a graph of their own; then what was recorded with authentication on, of 1.5 and of 1.7.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# The recorded server had the limits of its version.
server_options=(--set server.max_vertices_per_batch=500 --set server.max_edges_per_batch=500)
replay() { # recording, base of paths, further arguments
  (
    recording=$1 base=$2
    shift 2
    source ../start-server.sh
    tool="$(dirname "$server_bin")/varve-conformance"
    if [[ ! -x $tool ]]; then
      ../../scripts/cargo.sh build --release -q --locked -p varve-conformance
    fi
    echo "-- $recording, ${base:-short paths}"
    "$tool" replay --url "$url" --recording "$recording" --base "$base" "$@"
  )
}
replay graph '' "$@"
replay graph /graphspaces/DEFAULT "$@"
replay traversers '' "$@"
# The recorded server had its users' passwords of one character and more.
server_options+=(--set auth.enabled=true --set auth.password_min_length=1)
export VARVE_ADMIN_PASSWORD=pa
replay auth '' "$@"
replay auth-1.7 '' "$@"
