#!/usr/bin/env bash
# Compares what the built server reads and writes with what other programs read and write (see README.md).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../environment.sh
source ../start-server.sh
status=0
"$environment/bin/python" -B odd.py "$server_bin" "$url" || status=1
"$environment/bin/python" -B trips.py "$server_bin" "$url" || status=1
exit $status
