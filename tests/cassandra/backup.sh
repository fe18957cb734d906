#!/usr/bin/env bash
# A backup of a graph on a cluster while it is written to (backup.py says what must hold). VARVE_BIN is the program,
# VARVE_TEST_CASSANDRA=host:port a node that runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec python3 tests/cassandra/backup.py "${VARVE_BIN:-$PWD/target/release/varve}" "${VARVE_TEST_CASSANDRA:?host:port of a node}"
