#!/usr/bin/env bash
# Runs cargo with the settings that every build of this project shares: one target folder outside
# the checkout (so that clean clones find the crates built), RocksDB's library, ccache when it is
# there, gcc's headers for libclang, and the explorer.
set -euo pipefail
: "${CARGO_TARGET_DIR:=${XDG_CACHE_HOME:-$HOME/.cache}/varve/target}"
export CARGO_TARGET_DIR
mkdir -p "$CARGO_TARGET_DIR"
if command -v gcc >/dev/null; then
  export BINDGEN_EXTRA_CLANG_ARGS="${BINDGEN_EXTRA_CLANG_ARGS:--I$(gcc -print-file-name=include)}"
fi
if command -v ccache >/dev/null; then
  export CCACHE_DIR="${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/varve/ccache}"
  export CC="${CC:-ccache gcc}" CXX="${CXX:-ccache g++}"
fi
# The explorer that is built in: scripts/ui.sh has built it, or the server has a page in its place.
export VARVE_UI_DIR="${VARVE_UI_DIR-$("$(dirname "$0")/ui.sh" where)}"
# Commands that link need RocksDB's library; the others need its names and headers only.
case ${1:-} in build | test | run | bench) "$(dirname "$0")/rocksdb.sh" build ;; esac
while IFS= read -r setting; do
  export "${setting?}"
done < <("$(dirname "$0")/rocksdb.sh" environment)
exec cargo "$@"
