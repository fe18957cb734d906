#!/usr/bin/env bash
# Counts the instructions of the hot paths with valgrind and compares them with baseline.json beside this file; a case
# that needs over 5 % more fails. Other work on the machine does not change the counts; another compiler or processor
# may (code is chosen by the processor's abilities), so write a baseline of your own first on another machine.
#
#   bench/micro/run.sh [CASE ...]      bench/micro/run.sh --update      (writes the baseline anew)
#
# Needs valgrind, which is installed when it is missing, as root on Debian or Ubuntu.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
if ! command -v valgrind >/dev/null; then
  if command -v apt-get >/dev/null && [[ $(id -u) -eq 0 ]]; then
    echo 'bench-micro: installing valgrind' >&2
    apt-get update -q >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends valgrind libc6-dbg >&2
  else
    echo 'bench-micro: valgrind is missing: install valgrind (or your system'"'"'s package of it)' >&2
    exit 1
  fi
fi
cd "$root"
# Of the whole workspace, so that the code counted is built with the features of the binary.
exec scripts/cargo.sh bench --locked --workspace --bench micro -- "$@"
