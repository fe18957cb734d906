#!/usr/bin/env bash
# Two Varve servers and three Cassandra nodes, each in a network namespace of its own, while links between them are cut both
# ways, and processes are killed and stopped (cuts.py says what is done and what must hold). Needs root, for the namespaces.
#
#   cuts.sh [--rounds N] [--seconds N] [--seed N] [--datacenters]
#
# --rounds: how many faults (default 20); --seconds: how long each lasts (default 10); --datacenters: each node is a
# datacenter; also datacenters are cut from each other while all of them live.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [[ $(id -u) != 0 ]] || ! command -v ip >/dev/null; then
  echo 'cuts: needs root and ip (iproute2), for network namespaces' >&2
  exit 1
fi
varve=${VARVE_BIN:-$(scripts/cargo.sh metadata --format-version 1 --no-deps | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/release/varve}
# Links and addresses of its own: nothing of the machine's network changes.
exec unshare --net --mount -- python3 tests/cassandra/cuts.py scripts/cassandra/cluster.sh "$varve" "$@"
