#!/usr/bin/env bash
# Runs all scenarios of openCypher's TCK, parses and prints their texts, and compares the parser with another one on them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for tool in java mvn; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 0; }
done
VARVE_TEST_CYPHER="$(./features.sh)"
export VARVE_TEST_CYPHER
../../scripts/cargo.sh test --release --locked --workspace --test tck --test oracle -- --include-ignored
# Other crates have tests of these files, too.
../../scripts/cargo.sh test --release --locked --workspace --test features --test scenarios --test mutations -- \
  all_features_are_read scenarios_pass wrong_expectations_fail mutated_queries_do_not_panic
./doors.sh
# Neo4j beside Varve takes minutes.
if [[ ${VARVE_TEST_LANE:-} == long ]]; then ./neo4j/run.sh; fi
