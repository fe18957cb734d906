#!/usr/bin/env bash
# Runs the scenarios of openCypher's TCK through Neo4j's Python driver: over Bolt, and in the long tests also over the
# Query API. Four scenarios fail: the driver has offsets of whole minutes only.
set -euo pipefail
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
least=3843
python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
  { echo 'skipped: no python 3.10 with venv'; exit 0; }
venv="${XDG_CACHE_HOME:-$HOME/.cache}/varve/cypher/python"
features="$("$here/features.sh")"
if ! "$venv/bin/python" -c 'import aiohttp, gherkin, neo4j, urllib3' 2>/dev/null; then
  python3 -m venv "$venv" >&2
  "$venv/bin/pip" install -q 'neo4j[http]==6.4.1' gherkin-official==29.0.0 >&2
fi
server_options=(--set bolt.listen=127.0.0.1:0)
source "$here/../start-server.sh"
doors=("$BOLT_URL")
[[ ${VARVE_TEST_LANE:-} != long ]] || doors+=("$url")
status=0
for door in "${doors[@]}"; do
  echo "-- the scenarios at ${door%%:*}"
  "$venv/bin/python" -W ignore "$here/tck.py" "$features" "$door" --least "$least" || status=1
done
exit $status
