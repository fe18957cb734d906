#!/usr/bin/env bash
# Checks `varve bench api` against the real JMeter: the same paced load on the same server by one and then by the other,
# and whether the columns agree: samples within 0.5 %, throughput and KB/sec within 1 %, average and median within 1 ms or 5 %,
# 90 % line within 2 ms or 10 %, errors equal. Min and Max are single samples, so only what chance cannot explain counts:
#   Min  within 2 ms or 25 %. Nothing waits in the quickest request, but JMeter counts whole milliseconds, and reads large bodies
#        more slowly.
#   Max  within 500 ms or 50 %. Java stops for its garbage and for compiling for a quarter of a second at times; a connection
#        that had to be tried again takes a second longer, and is to be seen by both tools or by none.
# A load that neither tool is bound by is needed for all that; the last column, the server's own mean time of a request under
# each tool, tells where a difference is. JMeter's first minute is slower, while Java compiles it: with large bodies by
# milliseconds.
#
#   bench/jmeter/compare.sh [SCENARIO ...]     default: every scenario of the plan
#
#   USERS 300   BATCH_USERS 20   RAMP 30   HOLD 300 (seconds)   VERTICES 100000   EDGES 200000   REPEATS 1
#   DURABILITY none   VARVE_BIN (target/release/varve)   OUT (folder for what the tools wrote; default: a new one)
# Exit code 1 when a row disagrees. Nine scenarios take 110 minutes at the defaults: RAMP=5 HOLD=55 takes 20.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
users=${USERS:-300} batch_users=${BATCH_USERS:-20} ramp=${RAMP:-30} hold=${HOLD:-300}
vertices=${VERTICES:-100000} edges=${EDGES:-200000} repeats=${REPEATS:-1}
out=${OUT:-$(mktemp -d)}
mkdir -p "$out"
export VARVE_BIN=${VARVE_BIN:-$root/target/release/varve}
# Without waiting for the disk, whose moods would be in the difference of the tools.
server_options=(--durability "${DURABILITY:-none}")
scenarios=("$@")
((${#scenarios[@]})) || scenarios=(property_keys vertex_labels edge_labels single_insert_vertices single_insert_edges
  batch_insert_vertices batch_insert_edges vertex_by_id edge_by_id)
# shellcheck source=../../tests/start-server.sh
source "$root/tests/start-server.sh"
port=${url##*:}

# The published columns of the only row of a Markdown table, separated by blanks and without the label.
columns() { awk -F'|' '/^\|/ && ++line == 3 { for (i = 3; i <= 11; i++) { gsub(/[ ,%*]/, "", $i); printf "%s ", $i } }'; }

# What the server has counted of the requests of a scenario: seconds, and how many.
counted() {
  local route
  case $1 in
    property_keys) route='POST schema/propertykeys' ;;
    vertex_labels) route='POST schema/vertexlabels' ;;
    edge_labels) route='POST schema/edgelabels' ;;
    single_insert_*) route="POST graph/${1#single_insert_}" ;;
    batch_insert_vertices) route='POST graph/vertices/batch' ;;
    batch_insert_edges*) route='POST graph/edges/batch' ;;
    vertex_by_id) route='GET graph/vertices/{id}' ;;
    edge_by_id) route='GET graph/edges/{id}' ;;
    *) route='unknown' ;;
  esac
  curl -sf "$url/metrics" | awk -v labels="{method=\"${route%% *}\",route=\"/graphs/{graph}/${route#* }\"}" '
    $1 == "varve_request_seconds_sum" labels { time = $2 }
    $1 == "varve_request_seconds_count" labels { count = $2 }
    END { printf "%.6f %d\n", time, count }'
}
# Mean milliseconds between two of these.
mean() { awk -v a="$1" -v b="$2" 'BEGIN { split(a, x, " "); split(b, y, " "); n = y[2] - x[2]; printf "%.2f", n ? (y[1] - x[1]) * 1000 / n : 0 }'; }

failed=0
echo '| scenario | tool | Samples | Average | Median | 90% Line | Min | Max | Error % | Throughput | KB/sec | agrees | in the server, ms |'
echo '|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|'
for scenario in "${scenarios[@]}"; do
  n=$users
  [[ $scenario == batch_* ]] && n=$batch_users
  for repeat in $(seq "$repeats"); do
    name=$scenario-$repeat
    before=$(counted "$scenario")
    JMETER_OUT=$out/$name-jmeter "$here/run.sh" "$scenario" -Jport="$port" -Jusers="$n" -Jramp="$ramp" -Jhold="$hold" \
      -Jvertices="$vertices" -Jedges="$edges" >"$out/$name-jmeter.md" 2>"$out/$name-jmeter.err" ||
      { cat "$out/$name-jmeter.err" >&2; exit 1; }
    between=$(counted "$scenario")
    "$VARVE_BIN" bench api --name varve --url "$url" --scenario "$scenario" --model paced --users "$n" --ramp "${ramp}s" \
      --hold "${hold}s" --vertices "$vertices" --edges "$edges" --json "$out/$name-varve.json" --quiet \
      >"$out/$name-varve.out" 2>&1 || { cat "$out/$name-varve.out" >&2; exit 1; }
    after=$(counted "$scenario")
    "$VARVE_BIN" bench table "$out/$name-varve.json" >"$out/$name-varve.md"
    read -r -a theirs < <(columns <"$out/$name-jmeter.md"; echo)
    read -r -a ours < <(columns <"$out/$name-varve.md"; echo)
    verdict=$(awk -v theirs="${theirs[*]}" -v ours="${ours[*]}" '
      function near(at, absolute, percent,   gap) {
        gap = a[at] - b[at]; if (gap < 0) gap = -gap
        if (gap > absolute && gap > a[at] * percent / 100) wrong = wrong " " names[at]
      }
      BEGIN {
        split("samples average median 90% min max errors throughput kb", names, " ")
        if (split(theirs, a, " ") != 9 || split(ours, b, " ") != 9) { print "no figures"; exit }
        near(1, 0, 0.5); near(2, 1, 5); near(3, 1, 5); near(4, 2, 10)
        near(5, 2, 25); near(6, 500, 50); near(7, 0, 0); near(8, 0, 1); near(9, 0, 1)
        print wrong == "" ? "yes" : "no:" wrong
      }')
    row() { printf '| %s | %s ' "$scenario" "$1"; shift; printf '| %s ' "$@"; printf '|\n'; }
    row JMeter "${theirs[@]}" '' "$(mean "$before" "$between")"
    row 'varve bench' "${ours[@]}" "$verdict" "$(mean "$between" "$after")"
    [[ $verdict == yes ]] || failed=1
  done
done
echo
echo "paced, one request a second a user: $users users ($batch_users for batches), ramp-up $ramp s, hold $hold s, ramp-down $ramp s; files in $out"
exit "$failed"
