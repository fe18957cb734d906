#!/usr/bin/env bash
# Formatting, circles of files, clippy and the links of the documentation; a warning is an error. Needs python3, and no network
# once the crates, rustfmt and clippy are there: an installation of Rust with the minimal profile lacks the last two.
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in rustfmt:fmt clippy:clippy; do
  if ! cargo "${tool#*:}" --version >/dev/null 2>&1; then
    echo "lint: ${tool%:*} is missing: installing it"
    rustup component add "${tool%:*}" || {
      echo "lint: install ${tool%:*} for this Rust, then start again"
      exit 1
    }
  fi
done
echo 'lint: formatting'
scripts/cargo.sh fmt --all --check
echo 'lint: circles of files'
command -v python3 >/dev/null || { echo 'lint: python3 is missing: install it'; exit 1; }
scripts/circles.py >/dev/null
echo 'lint: clippy'
# Through build.sh, which tells how RocksDB gets on should it not be built yet.
scripts/build.sh clippy --release --locked --workspace --all-targets --keep-going -- -D warnings
echo 'lint: links of the documentation'
# Private items are documented too, and help texts name values as <ms>.
RUSTDOCFLAGS='-D warnings -A rustdoc::private_intra_doc_links -A rustdoc::invalid_html_tags' \
  scripts/build.sh doc --release --locked --workspace --no-deps --document-private-items --keep-going --quiet
