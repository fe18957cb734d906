#!/usr/bin/env bash
# Builds the explorer, RocksDB, the server and the load tool with the release profile, and prints what each part took.
#
#   build.sh [server | CARGO ARGUMENTS]     only the server, or whatever cargo is told
set -euo pipefail
cd "$(dirname "$0")/.."
timed() { # name and command
  local name=$1 started=$SECONDS
  shift
  "$@"
  ((SECONDS - started < 2)) || echo "build: $name: $((SECONDS - started)) s"
}

timed 'explorer' scripts/ui.sh
timed 'RocksDB' scripts/rocksdb.sh build
# Of the whole workspace, as the tests are: cargo joins the features of what is built together, and another choice of
# packages would be another set of features, for which the crates are compiled anew.
programs() { timed 'Varve' scripts/cargo.sh build --release --locked --workspace "${@/#/--bin=}"; }
case ${1:-} in
  '') programs varve varve-bench ;;
  server) programs varve ;;
  *) scripts/cargo.sh "$@" ;;
esac
