#!/usr/bin/env bash
# Runs TinkerPop's own scenarios: all texts are parsed and printed, those that only read run on the
# engine, and all run against a server over WebSockets and HTTP. Then random traversals run on
# TinkerGraph and on the built server.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for tool in java mvn; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 0; }
done
VARVE_GREMLIN_FEATURES="$(./features.sh)"
export VARVE_GREMLIN_FEATURES
../../scripts/cargo.sh test --release --locked --workspace --test scenarios --test mutations --test engine -- --include-ignored
VARVE_ENGINE="${VARVE_ENGINE:-memory}"
source ../start-server.sh
./tinkergraph.sh "$url"
