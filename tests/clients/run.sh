#!/usr/bin/env bash
# Runs the published HugeGraph clients and Egeria's connector against the built server (see README.md).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
server_options=(--set omrs.enabled=true)
source ../start-server.sh
status=0
for client in java python omrs; do
  echo "-- $client"
  "./$client/run.sh" "$url" || status=1
done
exit $status
