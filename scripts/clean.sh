#!/usr/bin/env bash
# Removes what was built of this workspace's own crates. The target folder is shared by all checkouts and holds the
# crates from outside, which take minutes to compile: they stay, and so does RocksDB's library (scripts/rocksdb.sh). To remove everything, delete the folder that `target`
# links to.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$(scripts/cargo.sh metadata --no-deps --format-version 1 --locked |
  grep -oE '"name":"varve[a-z-]*","version"' | cut -d'"' -f4 | sort -u)
for package in $packages; do
  scripts/cargo.sh clean --release -p "$package"
done
