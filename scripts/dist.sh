#!/usr/bin/env bash
# Builds packages into dist/ or the folder that is given: the stripped server with its debug information, the stripped load tool, an archive
# with manual page and completions, a Debian package, a Python wheel, and checksums. The container image is built from this folder
# (deploy/container/Containerfile). Needs binutils and python3-venv.
#
#   dist.sh [FOLDER]
#
# Environment: VARVE_BIN (a server that is built already, with varve-bench beside it, in place of building them). Fetches cargo-deb and hatchling where they
# are missing.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-dist}")
tools=${XDG_CACHE_HOME:-$HOME/.cache}/varve/tools
version=$(grep -m1 '^version = ' Cargo.toml | cut -d'"' -f2)
say() { printf 'dist: %s\n' "$*"; }

if [[ -z ${VARVE_BIN:-} ]]; then
  scripts/build.sh
  VARVE_BIN=target/release/varve
fi
# Only a folder of an earlier run is emptied.
if [[ -e $out && ! -e $out/SHA256SUMS && -n $(ls -A "$out") ]]; then
  say "$out is not empty, and was not made here"
  exit 1
fi
rm -rf "$out"
mkdir -p "$out"
# Marks the folder as one of this script, also where it ends early.
: >"$out/SHA256SUMS"

say 'the binaries'
objcopy --only-keep-debug "$VARVE_BIN" "$out/varve.debug"
objcopy --strip-unneeded "$VARVE_BIN" "$out/varve"
(cd "$out" && objcopy --add-gnu-debuglink=varve.debug varve)
objcopy --strip-all "${VARVE_BIN%/*}/varve-bench" "$out/varve-bench"
chmod 0755 "$out/varve" "$out/varve-bench"
chmod 0644 "$out/varve.debug"

name=varve-$version-linux-$(uname -m)
files=$(mktemp -d)
trap 'rm -rf -- "$files"' EXIT
mkdir -p "$files/$name"
"$out/varve" man >"$files/$name/varve.1"
for shell in bash zsh fish; do "$out/varve" completions "$shell" >"$files/$name/varve.$shell"; done
cp "$out/varve" "$out/varve-bench" README.md LICENSE NOTICE CHANGELOG.md "$files/$name"
tar -C "$files" --owner=0 --group=0 -czf "$out/$name.tar.gz" "$name"

say 'the Debian package'
if [[ ! -x $tools/bin/cargo-deb ]]; then
  cargo install --quiet --locked --version 3.8.0 cargo-deb --root "$tools"
fi
gzip -9n <"$files/$name/varve.1" >"$files/varve.1.gz"
# What the package holds is named by fixed paths in crates/varve/Cargo.toml.
mkdir -p "$out/deb"
cp "$out/varve" "$out/varve-bench" "$files/varve.1.gz" "$files/$name/varve.bash" "$out/deb"
ln -sfn "$out/deb" deploy/debian/built
"$tools/bin/cargo-deb" --quiet -p varve --no-build --no-strip --output "$out/" || { rm -f deploy/debian/built; exit 1; }
rm -rf deploy/debian/built "$out/deb"

say 'the Python wheel'
if [[ ! -x $tools/hatch/bin/hatchling ]]; then
  python3 -m venv "$tools/hatch"
  "$tools/hatch/bin/pip" --quiet --disable-pip-version-check install hatchling==1.33.0
fi
(cd deploy/python && VARVE_DIST_VERSION=$version VARVE_DIST_PROGRAMS=$out \
  "$tools/hatch/bin/hatchling" build -t wheel -d "$out" >/dev/null)

(cd "$out" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%f\n' | sort | xargs sha256sum >SHA256SUMS)
say "$out"
(cd "$out" && ls -l --block-size=K | awk 'NR > 1 { print "dist:   " $5 " " $9 }')
