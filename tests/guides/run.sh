#!/usr/bin/env bash
# Runs the examples of the user pages as they are written (see check.py), each page against a server of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for tool in python3 curl; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 0; }
done
for page in README.md docs/time-by-example.md docs/coming-from-hugegraph.md docs/production.md; do
  (
    source ../start-server.sh
    python3 check.py "$url" "../../$page"
  )
done
