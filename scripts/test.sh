#!/usr/bin/env bash
# Every check that CI runs: lints, all Rust tests (release profile, so that RocksDB is compiled once), and real clients
# against the server where their languages are present. Closes with one line: "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS
passed=0
failed=0
step() { printf '\n== %s (%ds)\n' "$1" "$((SECONDS - started))"; }
count() { # a check that passes or fails as one
  if [[ $1 -eq 0 ]]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $2"; fi
}

step 'lints'
scripts/lint.sh
count $? 'lints'

step 'build'
scripts/build.sh test --release --locked --workspace --no-run &&
  scripts/build.sh build --release --locked --workspace --bins
built=$?
count $built 'build'

if [[ $built -eq 0 ]]; then
  step 'Rust tests'
  log=$(mktemp)
  scripts/cargo.sh test --release --locked --workspace --no-fail-fast 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  read -r rust_passed rust_failed < <(
    awk '/^test result:/ { for (i = 1; i < NF; i++) { if ($(i+1) ~ /^passed/) p += $i; if ($(i+1) ~ /^failed/) f += $i } }
         END { print p + 0, f + 0 }' "$log")
  rm -f "$log"
  passed=$((passed + rust_passed))
  failed=$((failed + rust_failed))
  # A test binary that dies (a signal, an abort) prints no result line.
  if [[ $status -ne 0 && $rust_failed -eq 0 ]]; then count 1 'a test binary ended without a result'; fi

  for check in tests/*/run.sh; do
    [[ -x $check ]] || continue
    step "$check"
    VARVE_BIN="$PWD/target/release/varve" "$check"
    count $? "$check"
  done
fi

printf '\ntook %d s\n%d passed, %d failed\n' "$((SECONDS - started))" "$passed" "$failed"
[[ $failed -eq 0 && $passed -gt 0 ]]
