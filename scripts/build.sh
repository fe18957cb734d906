#!/usr/bin/env bash
# Builds the server with the release profile, or whatever cargo arguments are given, and tells how RocksDB gets on:
# cargo shows nothing while its C++ is compiled.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/varve/target}
# How many object files RocksDB comes to; only for the progress lines.
objects_in_all=349

objects() { find "$target"/release/build -path '*rocksdb*' -name '*.o' 2>/dev/null | wc -l; }

scripts/ui.sh

if ! compgen -G "$target/release/deps/librust_librocksdb_sys*.rlib" >/dev/null; then
  echo "build: the first build compiles RocksDB: about 15 to 25 minutes on two cores, once; later builds take a minute"
  (
    # A sleep in the foreground would outlive this shell, and hold the caller's output open, when the build ends first.
    nap=
    trap 'kill $nap 2>/dev/null; exit' TERM
    while sleep 30 & nap=$!; wait "$nap"; do
      done_now=$(objects)
      ((done_now > 0)) && echo "build: RocksDB: $done_now of about $objects_in_all files compiled"
      compgen -G "$target/release/deps/librust_librocksdb_sys*.rlib" >/dev/null && break
    done
  ) &
  watcher=$!
  trap 'kill "$watcher" 2>/dev/null || true' EXIT
fi
if (($#)); then
  scripts/cargo.sh "$@"
else
  # Of the whole workspace, as the tests are: cargo joins the features of what is built together, and another choice of
  # packages would be another set of features, for which RocksDB is compiled anew.
  scripts/cargo.sh build --release --locked --workspace --bin varve
fi
