#!/usr/bin/env bash
# Runs cargo with the settings that every build of this project shares: one target folder outside the
# checkout (so that clean clones find RocksDB built), ccache when it is there, and gcc's headers for libclang.
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
exec cargo "$@"
