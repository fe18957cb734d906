#!/usr/bin/env bash
# Every check that CI runs: lints, all Rust tests (release profile, as `make build`), and real clients
# against the server where their languages are present. Closes with what failed and what it told, which otherwise stands thousands
# of lines above, and with one line: "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
started=$SECONDS
passed=0
failed=0
told=$(mktemp -d) || exit 1
trap 'rm -rf "$told"' EXIT
log=$told/log
step() { printf '\n== %s (%ds)\n' "$1" "$((SECONDS - started))"; }
failure() { # name and standard input: to be told at the end
  { printf '%s:\n' "$1"; cut -c1-300 | sed 's/^/  /'; } >>"$told/failures"
}
counted() { # name and command: a check that passes or fails as one
  local name=$1 status
  shift
  "$@" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  if [[ $status -eq 0 ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
    {
      grep -aE -A 1 --no-group-separator '^---- .* ----$|panicked at|FAIL|^error|^Diff in' "$log" | tail -n 20
      tail -n 3 "$log"
    } | failure "$name"
  fi
  return "$status"
}
ended_early() { # the binaries with failed tests, and those that died, which may be in the midst of a line
  grep -aoE "error: (doc)?test failed, to rerun.*|process didn't exit successfully.*" "$log" || tail -n 5 "$log"
}
build() {
  scripts/build.sh test --release --locked --workspace --no-run &&
    scripts/build.sh build --release --locked --workspace --bins
}

step 'lints'
counted 'lints' scripts/lint.sh

step 'build'
if counted 'build' build; then
  step 'Rust tests'
  scripts/cargo.sh test --release --locked --workspace --no-fail-fast 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  read -r rust_passed rust_failed < <(
    awk '/^test result:/ { for (i = 1; i < NF; i++) { if ($(i+1) ~ /^passed/) p += $i; if ($(i+1) ~ /^failed/) f += $i } }
         END { print p + 0, f + 0 }' "$log")
  passed=$((passed + rust_passed))
  failed=$((failed + rust_failed))
  # A test binary that dies (a signal, an abort) prints no result line.
  if [[ $status -ne 0 && $rust_failed -eq 0 ]]; then
    failed=$((failed + 1))
    ended_early | failure 'a test binary ended without a result'
  elif [[ $rust_failed -gt 0 ]]; then
    {
      grep -aE '^test .* FAILED$' "$log"
      awk '/^---- .* stdout ----$/ { on = 12 } /^failures:$/ { on = 0 } on-- > 0 && NF' "$log"
      ended_early
    } | failure 'Rust tests'
  fi

  for check in tests/*/run.sh; do
    [[ -x $check ]] || continue
    step "$check"
    VARVE_BIN="$PWD/target/release/varve" counted "$check" "$check"
  done
fi

if [[ $failed -gt 0 ]]; then
  printf '\nwhat failed\n'
  cat "$told/failures"
fi
printf '\ntook %d s\n%d passed, %d failed\n' "$((SECONDS - started))" "$passed" "$failed"
[[ $failed -eq 0 && $passed -gt 0 ]]
