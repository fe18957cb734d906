#!/usr/bin/env bash
# Makes the pages of results whose figures docs/performance.md has, each from new runs. Pages are not kept in git.
#
#   make reports        or        bench/reports.sh [speed] [metadata] [compare] [cassandra]
#
# Without names: speed and metadata. `compare` needs HugeGraph, `cassandra` a node; their scripts get both.
#
#   HOLD 8 (seconds a row)   VOLUMES 0005-02,0010-05,0020-10   LIMITS_PERCENT 100
#   VARVE_BIN (target/release/varve)   OUT (folder for results; default reports in the target folder)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
export VARVE_BIN=${VARVE_BIN:-$root/target/release/varve}
out=${OUT:-$root/target/reports}

speed() {
  local durability
  for durability in sync interval:100 none; do
    "$VARVE_BIN" bench api --serve "$VARVE_BIN" --preset speed --durability "$durability" --hold "${HOLD:-8}s" \
      --json "$out/speed-${durability%:*}.json"
  done
  "$VARVE_BIN" bench limits --durability none --percent "${LIMITS_PERCENT:-100}" --json "$out/limits.json"
  "$VARVE_BIN" bench report "$out"/speed-*.json "$out/limits.json" -o "$out/speed.html"
}
metadata() {
  "$VARVE_BIN" bench metadata --serve "$VARVE_BIN" --volume "${VOLUMES:-0005-02,0010-05,0020-10}" --json "$out/metadata.json" \
    --report "$out/metadata.html"
}
compare() { OUT=$out/compare "$root/bench/peers/compare.sh"; }
cassandra() { OUT=$out/cassandra "$root/scripts/cassandra/load.sh"; }

(($#)) || set -- speed metadata
for page in "$@"; do
  [[ $page =~ ^(speed|metadata|compare|cassandra)$ ]] && continue
  echo "reports.sh: no page '$page'; there are: speed, metadata, compare, cassandra" >&2
  exit 2
done
mkdir -p "$out"
for page in "$@"; do "$page"; done
echo "pages: $(find "$out" -name '*.html' | sort | tr '\n' ' ')"
