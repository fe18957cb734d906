#!/usr/bin/env bash
# Parses and prints all texts of openCypher's TCK, and compares the parser with another one on them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for tool in java mvn; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 0; }
done
VARVE_TEST_CYPHER="$(./features.sh)"
export VARVE_TEST_CYPHER
../../scripts/cargo.sh test --release --locked --workspace --test tck --test oracle -- --include-ignored
