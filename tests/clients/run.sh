#!/usr/bin/env bash
# Runs the published Java and Python clients against the built server (see README.md).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ../start-server.sh
status=0
for client in java python; do
  echo "-- $client"
  "./$client/run.sh" "$url" || status=1
done
exit $status
