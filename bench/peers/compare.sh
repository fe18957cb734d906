#!/usr/bin/env bash
# Varve and a real HugeGraph on this machine, measured in turns with the same requests: A B A B …, and while one works the
# other is stopped (SIGSTOP), so that it takes no processor time. Prints the ratios, and writes an HTML report.
#
#   make bench-compare        or        bench/peers/compare.sh [SCENARIO,…]
#
#   REPEATS 5   HOLD 10 (seconds a row)   USERS 16   BATCH_USERS 4   back to back
#   PACED_USERS 300 (one request a second each; 0: no paced rows)   PACED_HOLD 20   PACED_RAMP 5
#   VERTICES 100000   EDGES 200000   loaded before reads and edges
#   TRAVERSER_USERS 8   traversers on the social graph of VERTICES persons; 0: none. Then QUESTIONS (200) of each are asked of
#   both servers, and an answer that differs fails the run
#   DURABILITY none (of Varve: HugeGraph does not sync its writes either)
#   VARVE_BIN (target/release/varve)   OUT (folder for results; default bench-compare in the target folder)
# HUGEGRAPH_WORKERS, HUGEGRAPH_HEAP and the rest: see bench/peers/hugegraph/hugegraph.sh.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
hugegraph=$here/hugegraph/hugegraph.sh
export HUGEGRAPH_PORT=${HUGEGRAPH_PORT:-28080} HUGEGRAPH_WORKERS=${HUGEGRAPH_WORKERS:-300}
repeats=${REPEATS:-5} hold=${HOLD:-10} users=${USERS:-16} batch_users=${BATCH_USERS:-4}
paced_users=${PACED_USERS:-300} paced_hold=${PACED_HOLD:-20} paced_ramp=${PACED_RAMP:-5}
traverser_users=${TRAVERSER_USERS:-8} questions=${QUESTIONS:-200}
vertices=${VERTICES:-100000} edges=${EDGES:-200000} durability=${DURABILITY:-none}
out=${OUT:-$root/target/bench-compare}
export VARVE_BIN=${VARVE_BIN:-$root/target/release/varve}
all=single_insert_vertices,single_insert_edges,batch_insert_vertices,batch_insert_edges,batch_insert_edges_unchecked
scenarios=${1:-property_keys,vertex_labels,edge_labels,$all,vertex_by_id,edge_by_id}
batches=$(tr ',' '\n' <<<"$scenarios" | grep '^batch_' | paste -sd, || true)
singles=$(tr ',' '\n' <<<"$scenarios" | grep -v '^batch_' | paste -sd, || true)

mkdir -p "$out"
rm -f "$out"/*.json
server_options=(--durability "$durability")
# shellcheck source=../../tests/start-server.sh
source "$root/tests/start-server.sh"
varve_url=$url
finish() {
  kill -CONT "$server_pid" 2>/dev/null || true
  "$hugegraph" stop || true
  stop_server
}
trap finish EXIT
# Elements of an earlier run would make its answers others than ours.
"$hugegraph" clean
"$hugegraph" start
hugegraph_url=http://127.0.0.1:$HUGEGRAPH_PORT

# The one named works, the other is stopped.
turn() {
  if [[ $1 == varve ]]; then
    "$hugegraph" pause
    kill -CONT "$server_pid"
  else
    kill -STOP "$server_pid"
    "$hugegraph" resume
  fi
}

measure() { # server, repeat, kind of load, scenarios, options of the load
  local name=$1 repeat=$2 kind=$3 list=$4
  shift 4
  [[ -n $list ]] || return 0
  local more=(--url "$varve_url" --durability "$durability")
  [[ $name == hugegraph ]] && more=(--url "$hugegraph_url" --durability 'no sync')
  "$VARVE_BIN" bench api --name "$name" "${more[@]}" --scenario "$list" --vertices "$vertices" --edges "$edges" \
    --title 'Varve and HugeGraph on the same machine' --quiet --json "$out/$repeat-$name-$kind.json" "$@" \
    >"$out/$repeat-$name-$kind.md"
}

# Both servers get the same persons, once.
measure_traversers() { # server, repeat
  local name=$1 repeat=$2
  local more=(--url "$varve_url" --durability "$durability")
  [[ $name == hugegraph ]] && more=(--url "$hugegraph_url" --durability 'no sync')
  ((repeat > 1)) && more+=(--loaded)
  "$VARVE_BIN" bench api --name "$name" "${more[@]}" --preset traversers --run-prefix cmp --vertices "$vertices" \
    --title 'Varve and HugeGraph on the same machine' --quiet --json "$out/$repeat-$name-traversers.json" \
    --model closed --users "$traverser_users" --hold "${hold}s" >"$out/$repeat-$name-traversers.md"
}

for repeat in $(seq "$repeats"); do
  for name in varve hugegraph; do
    echo "compare: repeat $repeat of $repeats: $name" >&2
    turn "$name"
    measure "$name" "$repeat" singles "$singles" --model closed --users "$users" --hold "${hold}s"
    measure "$name" "$repeat" batches "$batches" --model closed --users "$batch_users" --hold "${hold}s"
    if ((paced_users > 0)); then
      measure "$name" "$repeat" paced "$singles" --model paced --users "$paced_users" --ramp "${paced_ramp}s" \
        --hold "${paced_hold}s"
    fi
    if ((traverser_users > 0)); then
      measure_traversers "$name" "$repeat"
    fi
  done
done
# Varve first: ratios are ours to theirs.
results=("$out"/*-varve-*.json "$out"/*-hugegraph-*.json)
"$VARVE_BIN" bench compare "${results[@]}" | tee "$out/compare.md"
"$VARVE_BIN" bench report "${results[@]}" -o "$out/report.html"
echo "compare: HugeGraph with $HUGEGRAPH_WORKERS worker threads (its default refuses the fourth request in flight on two processors);" \
  "Varve with durability $durability. Report: $out/report.html" >&2
if ((traverser_users > 0)); then
  kill -CONT "$server_pid"
  "$hugegraph" resume
  python3 "$here/answers.py" "$varve_url" "$hugegraph_url" "$questions" | tee "$out/answers.md"
fi
