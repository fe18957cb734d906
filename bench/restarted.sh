#!/usr/bin/env bash
# Questions to the social graph while it is in the front table (fresh), and from the files after a restart: a table of the
# server's processor time a request, in microseconds, and their ratio. `cold` is the first second after the restart.
#
#   bench/restarted.sh [SCENARIO,…]
#
#   VERTICES 100000 persons, who know five others each   HOLD 3 (seconds a row)   WARMUP 3 (seconds)   USERS 4
#   VARVE_BIN (target/release/varve)   OUT (folder for results)   SERVE_SET (options of the server, NAME=VALUE …)
set -euo pipefail
root=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
scenarios=${1:-kout_2,shortest_path,gremlin_out,gremlin_two_hops,gremlin_three_hops,gremlin_by_name,gremlin_filtered,gremlin_neighbour_cities}
varve=${VARVE_BIN:-$root/target/release/varve} vertices=${VERTICES:-100000} hold=${HOLD:-3} warmup=${WARMUP:-3}
out=${OUT:-$root/target/bench-restarted}
read -ra set <<<"${SERVE_SET:-}"
options=()
for one in "${set[@]}"; do options+=(--set "$one"); done
mkdir -p "$out"
rm -rf "$out/data" "$out"/*.json
server_pid=''
stop() {
  [[ -z $server_pid ]] || { kill "$server_pid" && wait "$server_pid"; } || true
  server_pid=''
}
trap stop EXIT
start() {
  "$varve" serve --listen 127.0.0.1:0 --data-dir "$out/data" --durability none "${options[@]}" >"$out/server.log" 2>&1 &
  server_pid=$!
  url=''
  for _ in $(seq 1 600); do
    url=$(grep -oE 'serves on https?://[0-9.:]*' "$out/server.log" | cut -d' ' -f3) || true
    [[ -z $url ]] || return 0
    sleep 0.1
  done
  cat "$out/server.log"
  return 1
}
ask() { # name, scenarios, options
  local name=$1 scenarios=$2
  shift 2
  "$varve" bench gremlin --url "$url" --name "$name" --run-prefix rst --vertices "$vertices" --quiet --model closed \
    --users "${USERS:-4}" --durability none --scenario "$scenarios" --json "$out/$name.json" "$@" >"$out/$name.md"
}

start
ask load gremlin_vertex --hold 1s
ask fresh "$scenarios" --loaded --hold "${hold}s" --warmup 1s
stop
for scenario in ${scenarios//,/ }; do
  [[ -n ${COLD:-} ]] || break
  # Each from an empty cache of the server; that of the system, too, where it may be emptied.
  sync
  { echo 3 >/proc/sys/vm/drop_caches; } 2>/dev/null || true
  start
  ask "cold-$scenario" "$scenario" --loaded --hold 1s --warmup 0s
  stop
done
start
ask restarted "$scenarios" --loaded --hold "${hold}s" --warmup "${warmup}s"
echo "resident at most: $(grep VmHWM "/proc/$server_pid/status" | tr -s ' \t' ' ')"
stop
python3 - "$out" <<'PY'
import glob, json, sys

def read(name):
    rows = {}
    for file in glob.glob(f"{sys.argv[1]}/{name}.json"):
        for row in json.load(open(file))["rows"]:
            rows[row["scenario"]] = row["cpu"]["server_us_per_request"]
    return rows

fresh, cold, again = read("fresh"), read("cold-*"), read("restarted")
print("| question | fresh | restarted | ratio | cold | ratio |\n|---|--:|--:|--:|--:|--:|")
for name, time in fresh.items():
    first = cold.get(name)
    colds = f"{first:.1f} | {first / time:.2f}" if first else " | "
    print(f"| {name} | {time:.1f} | {again[name]:.1f} | {again[name] / time:.2f} | {colds} |")
PY
