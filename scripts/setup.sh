#!/usr/bin/env bash
# Finds what the build needs and is missing, and installs it with apt-get when that is possible without asking.
# Needed beside Rust: a C++ compiler (RocksDB), libclang (RocksDB's binding is generated at build time), make.
# Node 18 and npm for the explorer; without them the server is built without it.
# ccache is not needed, but keeps the C and C++ code of an emptied target folder from being compiled again.
set -euo pipefail
say() { printf 'setup: %s\n' "$*"; }

# Only the library itself counts: `libclang-cpp`, which other packages bring along, does not hold the C interface that
# the binding's generator loads.
have_libclang() {
  [[ -n "${LIBCLANG_PATH:-}" ]] && return 0
  local folder
  for folder in /usr/lib/llvm-*/lib /usr/lib/*-linux-gnu /usr/lib64 /usr/lib64/llvm*/lib*; do
    compgen -G "$folder/libclang.so*" >/dev/null && return 0
    compgen -G "$folder/libclang-[0-9]*.so*" >/dev/null && return 0
  done
  return 1
}

# The newest runtime library that this release of Debian or Ubuntu has; the development package is eight times as large.
libclang_package() {
  apt-cache search --names-only '^libclang1-[0-9]+$' | awk '{print $1}' | sort -t- -k2 -n | tail -1
}

# The packages of what is missing, for a person to install.
packages_of() { sed 's/\blibclang\b/libclang-dev/; s/\bnode\b/nodejs npm/' <<<"$1"; }

missing=()
command -v g++ >/dev/null || missing+=(g++)
command -v make >/dev/null || missing+=(make)
command -v python3 >/dev/null || missing+=(python3)
have_libclang || missing+=(libclang)
command -v ccache >/dev/null || missing+=(ccache)
# Node builds the explorer, and is not needed to run it.
have_node() { command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null; }
have_node || missing+=(node)
# Whether all that is missing only makes builds better.
is_optional() {
  local name
  for name in "${missing[@]}"; do [[ $name =~ ^(ccache|node|python3)$ ]] || return 1; done
}

if ((${#missing[@]})); then
  say "missing: ${missing[*]}"
  if command -v apt-get >/dev/null && [[ $(id -u) -eq 0 ]]; then
    say 'installing with apt-get'
    apt-get update -q
    packages=()
    for name in "${missing[@]}"; do
      case $name in
        libclang) packages+=("$(libclang_package)") ;;
        node) packages+=(nodejs npm) ;;
        *) packages+=("$name") ;;
      esac
    done
    DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends "${packages[@]}"
  elif is_optional; then
    say "going on without ${missing[*]}"
  elif command -v apt-get >/dev/null; then
    names=${missing[*]}
    say "run this, then start again: sudo apt-get update && sudo apt-get install -y $(packages_of "$names")"
    exit 1
  else
    say 'install a C++ compiler (g++), make and libclang with the package manager of your system, then start again'
    exit 1
  fi
fi

if ! command -v cargo >/dev/null; then
  say 'Rust is missing: install rustc and cargo 1.95 or newer (https://rustup.rs), then start again'
  exit 1
fi
needed=1.95
found=$(rustc --version | awk '{print $2}')
if [[ $(printf '%s\n%s\n' "$needed" "$found" | sort -V | head -1) != "$needed" ]]; then
  say "Rust $needed or newer is needed, but rustc is $found"
  exit 1
fi

# `target` in the checkout leads to the shared target folder.
root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/varve/target}
mkdir -p "$target"
if [[ -L $root/target || ! -e $root/target ]]; then
  ln -sfn "$target" "$root/target"
elif [[ $(realpath "$root/target") != $(realpath "$target") ]]; then
  say "$root/target is a folder of its own, but what is built lies in $target: move it away, then start again"
  exit 1
fi
