#!/usr/bin/env bash
# Varve on three Cassandra nodes, each row on all of them, while nodes and servers are killed and stopped under load
# (crates/varve/tests/process/cluster.rs says what is done and what must hold). It starts and removes the nodes itself.
#
#   faults.sh [--seed N] [--rounds N] [--seconds N] [--servers N] [--writers N]
#
# One round is the short form: one node, one server, and most nodes away, some three minutes. With more rounds each node has its
# turn in every round. --seconds: how long a fault lasts at least. The environment's VARVE_CLUSTER_… says the same.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
while (($# > 0)); do
  case $1 in
    --seed | --rounds | --seconds | --servers | --writers)
      name=${1#--}
      export "VARVE_CLUSTER_${name^^}=${2:?$1 takes a number}"
      shift 2
      ;;
    *) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done
source tests/cassandra/settings.sh
scripts/cargo.sh "${plain[@]}" test -q "${varve_on_cassandra[@]}" --test process -- --nocapture --test-threads 1 cluster::
