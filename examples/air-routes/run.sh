#!/usr/bin/env bash
# Loads the air routes into a server of its own and asks about them: now, and as it was before a change.
# Needs python3 with pip (for the data, once) and curl. Everything it makes lies in ~/.cache/varve/air-routes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
varve=${VARVE_BIN:-$here/../../target/release/varve}
work=${XDG_CACHE_HOME:-$HOME/.cache}/varve/air-routes
mkdir -p "$work"

if [[ ! -s $work/route.jsonl ]]; then
  echo '== fetching the data (21 MB, once)'
  python3 -m pip download -q --no-deps --disable-pip-version-check -d "$work" graph-notebook
  python3 -m zipfile -e "$work"/graph_notebook-*.whl "$work/wheel"
  python3 "$here/convert.py" "$work/wheel/graph_notebook/seed/queries/propertygraph/gremlin/airports" "$work"
  rm -rf "$work/wheel"
fi
cp "$here/mapping.toml" "$work/mapping.toml"

data=$(mktemp -d "$work/data.XXXXXX")
log=$data/server.log
"$varve" serve --listen 127.0.0.1:0 --data-dir "$data" ${VARVE_EXAMPLE_FLAGS:-} >"$log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; rm -rf "$data"' EXIT
for _ in $(seq 100); do
  url=$(sed -n 's/.*serves on \(http:[^ ]*\).*/\1/p' "$log")
  [[ -n $url ]] && break
  kill -0 "$server" 2>/dev/null || { cat "$log"; exit 1; }
  sleep 0.1
done

graph=$url/graphs/hugegraph/graph
show() { python3 -c "import json, sys; answer = json.load(sys.stdin); $1"; }

echo '== loading'
"$varve" load --server "$url" --restart --schema "$here/schema.json" "$work/mapping.toml"

echo '== airports with six runways or more'
curl -sG "$graph/vertices" --data-urlencode label=airport --data-urlencode 'properties={"runways":"P.gte(6)"}' |
  show 'print(*sorted("{} {runways} {desc}".format(v["id"], **v["properties"]) for v in answer["vertices"]), sep="\n")'

routes() { # how many routes leave Heathrow, at the point in time that the arguments say
  curl -sG "$graph/edges" --data-urlencode 'vertex_id="LHR"' --data-urlencode direction=OUT --data-urlencode label=route \
    --data-urlencode limit=-1 "$@" | show 'print(len(answer["edges"]))'
}
echo '== Heathrow loses a runway and its route to Austin'
before=$(date -u +%FT%T.%6NZ)
curl -s -X PUT "$graph/vertices/%22LHR%22?action=append" -H 'content-type: application/json' \
  -d '{"label":"airport","properties":{"runways":1}}' >/dev/null
route=$(curl -sG "$graph/edges" --data-urlencode 'vertex_id="LHR"' --data-urlencode direction=OUT --data-urlencode label=route \
  --data-urlencode limit=-1 | show 'print(next(e["id"] for e in answer["edges"] if e["inV"] == "AUS"))')
curl -s -X DELETE "$graph/edges/$(python3 -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.argv[1], safe=""))' "$route")"

runways='print(answer["properties"]["runways"])'
echo "runways now:                $(curl -s "$graph/vertices/%22LHR%22" | show "$runways")"
echo "runways as recorded before: $(curl -sG "$graph/vertices/%22LHR%22" --data-urlencode "as_of_tx=$before" | show "$runways")"
echo "routes now:                 $(routes)"
echo "routes as recorded before:  $(routes --data-urlencode "as_of_tx=$before")"
