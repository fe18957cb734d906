#!/usr/bin/env bash
# Compiles RocksDB in a few large units, once for each version, flags and compiler: minutes in place of the hour that its
# crate takes, which compiles 348 files one by one. The sources are the crate's own, in cargo's registry.
#
#   rocksdb.sh build         compiles the library unless it exists
#   rocksdb.sh environment   what cargo needs in order to link the library, as lines NAME=VALUE; nothing where the crate
#                            builds RocksDB itself
#   rocksdb.sh folder        where the library is
#
# The crate builds RocksDB itself with VARVE_ROCKSDB=crate, and after a unit did not compile.
set -euo pipefail
cd "$(dirname "$0")/.."
[[ ${VARVE_ROCKSDB:-} == crate ]] && exit 0

cache=${XDG_CACHE_HOME:-$HOME/.cache}/varve/rocksdb
compiler=${CXX:-g++}
version_of() { awk -v name="\"$1\"" '$1 == "name" && $3 == name { getline; gsub(/"/, "", $3); print $3; exit }' Cargo.lock; }
version=$(version_of rust-librocksdb-sys)

# What the crate's build.rs sets on Linux, for the processor that .cargo/config.toml names.
flags=(-O3 -ffunction-sections -fdata-sections -fPIC -m64 -march=x86-64-v3 -mpclmul -std=c++20 -fno-builtin-memcmp -fno-rtti -w
  -include cstdint -DNDEBUG=1 -DHAVE_ALIGNED_NEW -DHAVE_UINT128_EXTENSION -DLZ4=1 -DZSTD=1 -DOS_LINUX
  -DROCKSDB_PLATFORM_POSIX -DROCKSDB_LIB_IO_POSIX -DROCKSDB_SCHED_GETCPU_PRESENT -DROCKSDB_AUXV_GETAUXVAL_PRESENT
  -DROCKSDB_FALLOCATE_PRESENT -DROCKSDB_RANGESYNC_PRESENT -DROCKSDB_PTHREAD_ADAPTIVE_MUTEX -DROCKSDB_BACKTRACE)

key=$version-$({ echo "${flags[@]}"; cat .cargo/config.toml; $compiler --version; } 2>&1 | sha256sum | cut -c1-12)
folder=$cache/$key
work=$folder.units

say() { printf 'rocksdb: %s\n' "$*" >&2; }

# Where cargo has put the sources of a crate; empty if it has not fetched them.
sources_of() { compgen -G "${CARGO_HOME:-$HOME/.cargo}/registry/src/*/$1-$(version_of "$1")" | head -1 || true; }

# Neighbours in the crate's list share headers, so a unit takes neighbours.
write_units() { # how many
  local files each number
  mapfile -t files < <(grep -v -e '^#' -e '^$' -e build_version.cc "$crate/rocksdb_lib_sources.txt")
  each=$(((${#files[@]} + $1 - 1) / $1))
  for ((number = 0; number < $1; number++)); do
    printf '#include "rocksdb/%s"\n' "${files[@]:number*each:each}" >"$work/unit$number.cc"
  done
  echo '#include "build_version.cc"' >>"$work/unit0.cc"
}

compile() { # a unit's number
  local started=$SECONDS
  cd "$crate"
  $compiler "${flags[@]}" -I . -I c-api-extensions -I rocksdb -I rocksdb/include -I "$(cd - >/dev/null; sources_of lz4-sys)/liblz4/lib" \
    -I "$(cd - >/dev/null; sources_of zstd-sys)/zstd/lib" -c "$work/unit$1.cc" -o "$work/unit$1.o"
  say "unit $(($1 + 1)) compiled in $((SECONDS - started)) s"
}

build() {
  local units at_once room started=$SECONDS
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9
  [[ -e $folder/librocksdb.a || -e $folder/failed ]] && return
  # A unit takes up to 2.5 GB of memory.
  room=$(awk '/MemAvailable/ { print int($2 / 2500000) }' /proc/meminfo)
  units=$(($(nproc) > 6 ? $(nproc) : 6))
  at_once=$(($(nproc) < room ? $(nproc) : room > 1 ? room : 1))
  rm -rf "$work"
  mkdir -p "$work"
  write_units "$units"
  say "compiling RocksDB ${version#*+} in $units units, $at_once at a time: minutes, once"
  mkdir -p "$folder"
  if seq 0 $((units - 1)) | xargs -P "$at_once" -n 1 scripts/rocksdb.sh unit && ar rcs "$work/librocksdb.a" "$work"/unit*.o; then
    mv "$work/librocksdb.a" "$folder/librocksdb.a"
    say "compiled in $((SECONDS - started)) s"
  else
    : >"$folder/failed"
    say "a unit did not compile: the crate builds RocksDB itself, which takes up to an hour; delete $folder to try again"
  fi
  rm -rf "$work"
}

has_sources() {
  local each
  for each in rust-librocksdb-sys lz4-sys zstd-sys; do [[ -n $(sources_of "$each") ]] || return 1; done
}
if ! has_sources; then
  cargo fetch --locked >&2
  has_sources || { say 'cargo has no sources of RocksDB after a fetch'; exit 1; }
fi
crate=$(sources_of rust-librocksdb-sys)
case ${1:-} in
  build) [[ -e $folder/librocksdb.a || -e $folder/failed ]] || build ;;
  unit) compile "$2" ;;
  folder) echo "$folder" ;;
  environment)
    if [[ ! -e $folder/failed ]]; then
      # The crate compiles its own small file with run-time type information unless told otherwise; the library has none.
      printf '%s\n' "ROCKSDB_LIB_DIR=$folder" ROCKSDB_STATIC=1 "ROCKSDB_INCLUDE_DIR=$crate/rocksdb/include" \
        "CXXFLAGS=${CXXFLAGS:+$CXXFLAGS }-fno-rtti"
    fi
    ;;
  *) say 'usage: rocksdb.sh build | environment | folder'; exit 2 ;;
esac
