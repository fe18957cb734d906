#!/usr/bin/env bash
# Replays the recorded HugeGraph exchanges against the built server (see hugegraph/README.md).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../start-server.sh
tool="$(dirname "$server_bin")/varve-conformance"
if [[ ! -x $tool ]]; then
  ../../scripts/cargo.sh build --release -q --locked -p varve-conformance
fi
"$tool" replay --url "$url" "$@"
