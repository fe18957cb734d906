#!/usr/bin/env bash
# Gremlin on Varve, HugeGraph, JanusGraph and TinkerPop's own server with TinkerGraph, measured in
# turns with the same requests on the same graph. While one works the others are stopped (SIGSTOP).
# Prints the ratios of rate and CPU time.
#
#   bench/peers/gremlin.sh [PEER…]      hugegraph janusgraph tinkergraph: all of them unless some are named
#
#   REPEATS 3   HOLD 5 (seconds a row)   VERTICES 100000 persons, who know five others each
#   RESTARTED 1: Varve and HugeGraph read from their files after a restart; the others have the graph in memory alone
#   DURABILITY none (of Varve)   VARVE_BIN (target/release/varve)   OUT (folder for results)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
peers=("$@")
((${#peers[@]} > 0)) || peers=(hugegraph janusgraph tinkergraph)
repeats=${REPEATS:-3} hold=${HOLD:-5} vertices=${VERTICES:-100000} durability=${DURABILITY:-none}
out=${OUT:-$root/target/bench-gremlin}
export VARVE_BIN=${VARVE_BIN:-$root/target/release/varve} HUGEGRAPH_PORT=${HUGEGRAPH_PORT:-28080}
export HUGEGRAPH_WORKERS=${HUGEGRAPH_WORKERS:-300}
queries=gremlin_vertex,gremlin_out,gremlin_two_hops,gremlin_three_hops,gremlin_by_name,gremlin_top_ages,gremlin_filtered
queries+=,gremlin_neighbour_cities,gremlin_path,gremlin_cities,gremlin_all_two_hops
mkdir -p "$out"
rm -f "$out"/*.json
server_options=(--durability "$durability")
# shellcheck source=../../tests/start-server.sh
source "$root/tests/start-server.sh"

peer() { # name, command
  case $1 in
    varve) case $2 in pause) kill -STOP "$server_pid" ;; resume) kill -CONT "$server_pid" ;; esac ;;
    hugegraph) "$here/hugegraph/hugegraph.sh" "$2" ;;
    *) "$here/gremlin/server.sh" "$1" "$2" ;;
  esac
}
finish() {
  local name
  kill -CONT "$server_pid" 2>/dev/null || true
  for name in "${peers[@]}"; do peer "$name" stop || true; done
  stop_server
}
trap finish EXIT

bench() { # name, options
  local name=$1
  shift
  "$VARVE_BIN" bench gremlin --name "$name" --run-prefix cmp --vertices "$vertices" --quiet \
    --title 'Gremlin on the same machine and graph' "$@"
}
place() { # name: sets the options that say where it is
  case $1 in
    varve) where=(--url "$url" --durability "$durability") ;;
    hugegraph) where=(--url "http://127.0.0.1:$HUGEGRAPH_PORT" --durability 'no sync') ;;
    *) where=(--url "$("$here/gremlin/server.sh" "$1" url)" --graph g --gremlin-server --durability 'no sync') ;;
  esac
}

place varve
bench varve "${where[@]}" --scenario gremlin_vertex --model closed --users 1 --hold 1s >/dev/null
for name in "${peers[@]}"; do
  # Elements of an earlier run would make its graph another one than ours.
  [[ $name != hugegraph ]] || peer "$name" clean
  peer "$name" start
  place "$name"
  case $name in
    hugegraph) bench "$name" "${where[@]}" --scenario gremlin_vertex --model closed --users 1 --hold 1s >/dev/null ;;
    *) python3 "$here/gremlin/copy.py" "$url" "$(peer "$name" url)" >&2 ;;
  esac
  peer "$name" pause
done
if [[ -n ${RESTARTED:-} ]]; then
  kill "$server_pid" && wait "$server_pid" || true
  launch_server
  for name in "${peers[@]}"; do
    [[ $name == hugegraph ]] || continue
    peer "$name" stop
    peer "$name" start
    peer "$name" pause
  done
fi
for repeat in $(seq "$repeats"); do
  for name in varve "${peers[@]}"; do
    echo "gremlin: repeat $repeat of $repeats: $name" >&2
    for other in varve "${peers[@]}"; do [[ $other == "$name" ]] || peer "$other" pause; done
    peer "$name" resume
    place "$name"
    bench "$name" "${where[@]}" --loaded --scenario "$queries" --model closed --users "${USERS:-4}" --hold "${hold}s" \
      --timeout 120s --json "$out/$repeat-$name.json" >"$out/$repeat-$name.md"
  done
done
# Varve first: ratios are ours to theirs.
for name in "${peers[@]}"; do
  "$VARVE_BIN" bench compare "$out"/*-varve.json "$out"/*-"$name".json | tee "$out/compare-$name.md"
done
