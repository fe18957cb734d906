#!/usr/bin/env bash
# What `make dist` makes can be installed and runs: the wheel in a fresh virtual environment, the Debian package's files, the
# checksums. Skipped where Python's venv or objcopy is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python3 -c 'import venv, ensurepip' 2>/dev/null || { echo "skipped: Python's venv is not here"; exit 0; }
command -v objcopy >/dev/null || { echo 'skipped: objcopy (binutils) is not here'; exit 0; }
work=$(mktemp -d "${TMPDIR:-/tmp}/varve-dist.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
VARVE_BIN=${VARVE_BIN:-$PWD/target/release/varve} scripts/dist.sh "$work/dist"
passed=0
check() { # what, command…
  local what=$1
  shift
  "$@" || { echo "FAILED: $what"; exit 1; }
  passed=$((passed + 1))
}
in_dist() { (cd "$work/dist" && "$@"); }
check 'the checksums fit' in_dist sha256sum --quiet -c SHA256SUMS
check 'the binary is stripped' test -z "$(nm "$work/dist/varve" 2>/dev/null)"

python3 -m venv "$work/venv"
check 'the wheel is installed' "$work/venv/bin/pip" --quiet --disable-pip-version-check install --no-index "$work"/dist/*.whl
version=$("$work/venv/bin/varve" --version)
check 'the wheel has the load tool' grep -q 'metadata' <<<"$("$work/venv/bin/varve" bench --help)"
check 'it is this version' grep -qF "$(grep -m1 '^version = ' Cargo.toml | cut -d'"' -f2)" <<<"$version"

# The program of the wheel serves.
(
  export VARVE_BIN=$work/venv/bin/varve
  source tests/start-server.sh
  curl -sf "$url/graphs" | grep -q hugegraph
)
check 'the program of the wheel serves' true

if command -v dpkg-deb >/dev/null; then
  dpkg-deb -x "$work"/dist/*.deb "$work/root"
  dpkg-deb -e "$work"/dist/*.deb "$work/control"
  check 'the package has the binary' cmp -s "$work/root/usr/bin/varve" "$work/dist/varve"
  check 'the package has the load tool' cmp -s "$work/root/usr/bin/varve-bench" "$work/dist/varve-bench"
  check 'the package has a unit' grep -q '^ExecStart=/usr/bin/varve serve' "$(find "$work/root" -name varve.service)"
  check 'options are kept by upgrades' grep -qx /etc/varve/varve.toml "$work/control/conffiles"
  check 'the package makes its user' grep -q 'useradd --system' "$work/control/postinst"
  "$work/root/usr/bin/varve" config --config "$work/root/etc/varve/varve.toml" >"$work/options"
  check 'the options of the package are accepted' grep -qx 'data_dir = "/var/lib/varve"' "$work/options"
  # All that the binary is linked with is in the packages that it names.
  needed=$(objdump -p "$work/root/usr/bin/varve" | awk '$1 == "NEEDED" { print $2 }' |
    grep -vE '^(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|ld-linux-x86-64)\.so' || true)
  check "no other library is needed ($needed)" test -z "$needed"
  glibc=$(objdump -T "$work/root/usr/bin/varve" | grep -oE 'GLIBC_[0-9.]+' | sed 's/GLIBC_//' | sort -V | tail -1)
  check "glibc $glibc is what the package asks for" dpkg --compare-versions "$glibc" le 2.36
fi
echo "dist: $passed checks passed"
