#!/usr/bin/env bash
# Runs the examples of the user pages as they are written (see check.py), each page against a server of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
for tool in python3 curl; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 0; }
done
for page in README.md docs/time-by-example.md docs/coming-from-hugegraph.md docs/production.md docs/cypher-reference.md; do
  (
    source ../start-server.sh
    python3 check.py "$url" "../../$page"
  )
done
# Pages with a program, which Neo4j's drivers run. These are installed once, into a folder that outlives clean clones.
drivers="${XDG_CACHE_HOME:-$HOME/.cache}/varve/guides"
mkdir -p "$drivers"
server_options=(--set bolt.listen=127.0.0.1:0)
export GUIDE_FOLDER="$drivers"
# PAGE, and the language and command of its program
program() (
  source ../start-server.sh
  python3 check.py "$url" "../../docs/$1.md" "${@:2}"
)
python="$drivers/python/bin/python"
if ! python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
  echo "skipped: no python 3.10 with venv"
elif "$python" -c 'import neo4j' 2>/dev/null ||
  { python3 -m venv --clear "$drivers/python" && "$drivers/python/bin/pip" install -q neo4j==6.4.1; }; then
  program cypher-python python "$python"
  program coming-from-neo4j python "$python"
else
  echo "skipped: Neo4j's driver for Python could not be installed"
fi
if ! command -v npm >/dev/null; then
  echo "skipped: no npm"
elif [[ -d $drivers/node_modules/neo4j-driver ]] ||
  npm install --silent --no-audit --no-fund --prefix "$drivers" neo4j-driver@6.3.0; then
  program cypher-javascript js node
else
  echo "skipped: Neo4j's driver for JavaScript could not be installed"
fi
