#!/usr/bin/env bash
# Measures anew and writes a page for each subject of docs/performance.md: speed, and open metadata.
#
#   bench-reports.sh       into the folder OUT (default: target/bench-reports)
#
# Environment: VARVE_BIN (the server, with varve-bench beside it), HOLD (seconds for each row of speed; 8), DURABILITY (of speed;
# none), VOLUME (of open metadata; 0005-02,0010-05).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
varve=${VARVE_BIN:-target/release/varve}
out=${OUT:-target/bench-reports}
mkdir -p "$out"
"${varve%/*}/varve-bench" api --serve "$varve" --preset speed --durability "${DURABILITY:-none}" --hold "${HOLD:-8}s" --warmup 1s \
  --title 'Speed' --json "$out/speed.json" --report "$out/speed.html" >"$out/speed.md"
"${varve%/*}/varve-bench" metadata --serve "$varve" --volume "${VOLUME:-0005-02,0010-05}" \
  --title 'Open metadata' --json "$out/metadata.json" --report "$out/metadata.html" >"$out/metadata.md"
echo "reports: $out"
