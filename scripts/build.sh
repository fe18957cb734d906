#!/usr/bin/env bash
# Builds the explorer, RocksDB and the server with the release profile, or whatever cargo arguments are given, and prints what each
# part took.
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
if (($#)); then
  scripts/cargo.sh "$@"
else
  # Of the whole workspace, as the tests are: cargo joins the features of what is built together, and another choice of
  # packages would be another set of features, for which the crates are compiled anew.
  timed 'Varve' scripts/cargo.sh build --release --locked --workspace --bin varve
fi
