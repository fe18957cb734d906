#!/usr/bin/env bash
# Removes what was built of this workspace's own crates. Other crates, and RocksDB's library in the cache folder, stay: all
# checkouts share them. To remove everything, delete the folder `varve` in the cache folder.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$(scripts/cargo.sh metadata --no-deps --format-version 1 --locked |
  grep -oE '"name":"varve[a-z-]*","version"' | cut -d'"' -f4 | sort -u)
for package in $packages; do
  scripts/cargo.sh clean --release -p "$package"
done
