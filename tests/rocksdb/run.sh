#!/usr/bin/env bash
# Compares the symbols of RocksDB's library, which scripts/rocksdb.sh compiles in units, with those of the library that the crate
# builds file by file. A file that the units lack would show, and a definition that differs between both. Takes up to an hour, so only
# the long lane does it, once for each library.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [[ ${VARVE_TEST_LANE:-} != long ]]; then
  echo 'left out: the symbols of RocksDB (make long-test compares them)'
  exit 0
fi
ours=$(scripts/rocksdb.sh folder)
if [[ ! -e $ours/librocksdb.a ]]; then
  echo 'skipped: the crate builds RocksDB here'
  exit 0
fi
[[ ! -e $ours/compared ]] || { echo "compared before: $(cat "$ours/compared")"; exit 0; }
work=${XDG_CACHE_HOME:-$HOME/.cache}/varve/rocksdb/crate
VARVE_ROCKSDB=crate CARGO_TARGET_DIR=$work scripts/cargo.sh build --release --locked -p rust-librocksdb-sys
theirs=$(find "$work/release/build" -name librocksdb.a | head -n 1)
# Functions and variables that other objects can use. Inline functions are left out: each unit keeps those that it needs. So is the
# crate's own addition, which it always compiles itself.
symbols() { nm -A --defined-only "$1" | awk '$(NF-1) ~ /^[TDBR]$/ && $1 !~ /c_api_extensions/ { print $NF }' | LC_ALL=C sort -u; }
difference=$(diff <(symbols "$theirs") <(symbols "$ours/librocksdb.a")) || {
  echo "the libraries differ (< the crate's, > ours):"
  head -n 50 <<<"$difference"
  exit 1
}
echo "$(symbols "$theirs" | wc -l) symbols, the same in both" | tee "$ours/compared"
rm -rf "$work"
