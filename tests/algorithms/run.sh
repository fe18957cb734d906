#!/usr/bin/env bash
# Compares the graph algorithms of the built server with NetworkX (see README.md).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../environment.sh
source ../start-server.sh
"$environment/bin/python" check.py "$url"
