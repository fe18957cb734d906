#!/usr/bin/env bash
# Two Varve servers on three Cassandra nodes, each row on all of them, while nodes and servers are killed and stopped under load
# (crates/varve/tests/process/cluster.rs says what is done and what must hold). It starts and removes the nodes itself.
#
#   faults.sh [--seed N] [--rounds N] [--nodes N] [--seconds N] [--servers N] [--writers N]
#
# In each round every node has its turn, or so many as --nodes says; the server that leads is killed twice, and one that follows
# once; and most nodes are away. That takes some ten minutes. --seconds: how long a fault lasts at least. The environment's
# VARVE_CLUSTER_… says the same.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
while (($# > 0)); do
  case $1 in
    --seed | --rounds | --nodes | --seconds | --servers | --writers)
      name=${1#--}
      export "VARVE_CLUSTER_${name^^}=${2:?$1 takes a number}"
      shift 2
      ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done
source tests/cassandra/programs.sh
export VARVE_TEST_CLUSTER=1
# Below the server first: what a node that hangs costs.
program varve-kv-cassandra hanging --nocapture
program varve process --nocapture --test-threads 1 cluster::
