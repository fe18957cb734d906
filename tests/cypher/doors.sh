#!/usr/bin/env bash
# Runs all scenarios of openCypher's TCK through Neo4j's Python driver: over Bolt, then over the Query API.
set -euo pipefail
here="$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
venv="${XDG_CACHE_HOME:-$HOME/.cache}/varve/cypher/python"
features="$("$here/features.sh")"
if ! "$venv/bin/python" -c 'import aiohttp, gherkin, neo4j, urllib3' 2>/dev/null; then
  python3 -m venv "$venv" >&2
  "$venv/bin/pip" install -q 'neo4j[http]==6.4.1' gherkin-official==29.0.0 >&2
fi
server_options=(--set bolt.listen=127.0.0.1:0)
source "$here/../start-server.sh"
status=0
for door in "$BOLT_URL" "$url"; do
  echo "-- the scenarios at ${door%%:*}"
  "$venv/bin/python" -W ignore "$here/tck.py" "$features" "$door" --least "${TCK_LEAST:-3780}" || status=1
done
exit $status
