#!/usr/bin/env bash
# Formatting and clippy; a warning is an error. Needs no network once the crates are there.
set -euo pipefail
cd "$(dirname "$0")/.."
echo 'lint: formatting'
scripts/cargo.sh fmt --all --check
echo 'lint: clippy'
scripts/cargo.sh clippy --release --locked --workspace --all-targets --keep-going -- -D warnings
