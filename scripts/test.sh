#!/usr/bin/env bash
# The tests, in three lanes:
#
#   test.sh quick   what a developer waits for: formatting, clippy, units, models, HTTP in memory
#   test.sh         what CI runs and a merge needs: all Rust tests, real processes, recordings, published clients, a browser
#   test.sh long    the same with more rounds, more random cases, whole client suites, faults of clusters (`make long-test`)
#
# Suites run two at a time where there are two cores: most wait for servers, browsers and Java. Closes with the seconds of each
# suite, what failed and what it printed, and one line: "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
lane=${1:-merge}
[[ $lane =~ ^(quick|merge|long)$ ]] || { echo 'usage: test.sh [quick | long]'; exit 2; }
started=$SECONDS
results=$(mktemp -d) || exit 1
trap 'rm -rf "$results"' EXIT
export VARVE_TEST_LANE=$lane

# Test binaries that the quick lane leaves out: they start processes, need Cassandra, or write to a disk until it fails.
slow_binaries=(crash faults front_log families descriptors deleted_rows tiers idle_connections process cluster_model servers
  consistency hanging login parted quorum takeover tls tombstones)

# What a job printed that tells why it failed.
reasons() { # its output
  grep -aE -A 1 --no-group-separator '^---- .* ----$|panicked at|FAIL|^error|^Diff in' "$1" | tail -n 20
  grep -aE '^test .* FAILED$' "$1"
  awk '/^---- .* stdout ----$/ { on = 12 } /^failures:$/ { on = 0 } on-- > 0 && NF' "$1"
  # Binaries with failed tests, and those that died, which may be in the midst of a line.
  grep -aoE "error: (doc)?test failed, to rerun.*|process didn't exit successfully.*" "$1"
  tail -n 3 "$1"
}

# Runs one job. Alone, it prints as it goes; beside another one, its output appears when it ends, in one piece. Rust tests count
# each, other jobs as one.
side_by_side=
job() { # name and command
  local name=$1 output=$results/${1//\//_} begun=$SECONDS passed=0 failed=0 status
  shift
  if [[ -n $side_by_side ]]; then
    "$@" >"$output" 2>&1
    status=$?
  else
    "$@" 2>&1 | tee "$output"
    status=${PIPESTATUS[0]}
  fi
  if grep -qa '^test result:' "$output" && [[ $name == Rust* ]]; then
    read -r passed failed < <(
      awk '/^test result:/ { for (i = 1; i < NF; i++) { if ($(i+1) ~ /^passed/) p += $i; if ($(i+1) ~ /^failed/) f += $i } }
           END { print p + 0, f + 0 }' "$output")
    # A test binary that dies (a signal, an abort) prints no result line.
    [[ $status -eq 0 || $failed -gt 0 ]] || failed=1
  elif [[ $status -eq 0 ]]; then
    passed=1
  else
    failed=1
  fi
  {
    flock 9
    printf '\n== %s (%d s)\n' "$name" $((SECONDS - begun))
    [[ -z $side_by_side ]] || cat "$output"
    [[ $failed -eq 0 ]] || echo "FAILED: $name"
  } 9>"$results/lock"
  printf '%s\t%d\t%d\t%d\n' "$name" $((SECONDS - begun)) "$passed" "$failed" >>"$results/table"
  [[ $failed -eq 0 ]] || { printf '%s:\n' "$name"; reasons "$output" | cut -c1-300 | sed 's/^/  /'; } >>"$results/failures"
  # Test binaries, with the seconds that each took.
  awk -v name="$name" '/Running .*\(/ { binary = $NF; gsub(/.*\/|-[0-9a-f]*\)$/, "", binary); source = $2 == "unittests" ? $3 : $2 }
    /Doc-tests/ { binary = $NF; source = "doc" }
    /^test result:/ && /finished in/ { seconds = $NF; sub(/s$/, "", seconds); printf "%s\t%s %s\n", seconds, binary, source }' \
    "$output" >>"$results/binaries"
  [[ $failed -eq 0 ]]
}

# Runs the jobs whose commands are the arguments, each "name: command", two at a time.
jobs_side_by_side() {
  side_by_side=1
  local at_once=$(($(nproc) > 1 ? 2 : 1)) each
  for each in "$@"; do
    while (($(jobs -pr | wc -l) >= at_once)); do wait -n; done
    # shellcheck disable=SC2086 # the command is words
    job "${each%%: *}" ${each#*: } &
  done
  wait
}

build() {
  scripts/build.sh test --release --locked --workspace --no-run &&
    scripts/build.sh build --release --locked --workspace --bins
}

rust="scripts/cargo.sh test --release --locked --workspace --no-fail-fast"
# The quick lane's test binaries, as arguments of cargo.
quick_binaries() {
  local name
  find crates -regex '.*/varve[^/]*/tests/[^/]*\(/main\)?\.rs' | sed 's|/main\.rs$||; s|.*/||; s|\.rs$||' | sort -u | while read -r name; do
    [[ " ${slow_binaries[*]} " == *" $name "* ]] || printf -- '--test %s ' "$name"
  done
}

export VARVE_BIN=$PWD/target/release/varve
if job 'lints' scripts/lint.sh; then
  case $lane in
    quick)
      # shellcheck disable=SC2046 # the command is words
      job 'Rust tests' $rust --lib $(quick_binaries)
      ;;
    merge | long)
      if job 'build' build; then
        suites=()
        for check in tests/*/run.sh; do [[ -x $check ]] && suites+=("$check: $check"); done
        jobs_side_by_side "Rust tests: $rust" "${suites[@]}"
      fi
      ;;
  esac
fi

printf '\nseconds of each suite\n'
sort -t $'\t' -k2 -nr "$results/table" | awk -F '\t' '{ printf "%6d  %s%s\n", $2, $1, $4 ? "  FAILED" : "" }'
if [[ -s $results/binaries ]]; then
  printf '\nseconds of the slowest test binaries\n'
  sort -nr "$results/binaries" | head -n 25 | awk -F '\t' '{ printf "%8.1f  %s\n", $1, $2 }'
fi
read -r passed failed < <(awk -F '\t' '{ p += $3; f += $4 } END { print p + 0, f + 0 }' "$results/table")
if [[ $failed -gt 0 ]]; then
  printf '\nwhat failed\n'
  cat "$results/failures"
fi
printf '\ntook %d s\n%d passed, %d failed\n' "$((SECONDS - started))" "$passed" "$failed"
[[ $failed -eq 0 && $passed -gt 0 ]]
