#!/usr/bin/env bash
# The same clients against a server with authentication on, as its administrator, with a name and a
# password: all of them, or those that are named, `auth.sh java python`.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
clients=("$@")
# The merge lane skips slow clients that log in through another client: the loader is the Java client.
if [[ $# -eq 0 && ${VARVE_TEST_LANE:-} == merge ]]; then
  clients=(java python javascript gremlin bolt omrs)
elif [[ $# -eq 0 ]]; then
  clients=(java python loader javascript gremlin bolt omrs)
fi
# The clients' own checks have short passwords.
server_options=(--set bolt.listen=127.0.0.1:0 --set auth.enabled=true --set auth.password_min_length=2)
export VARVE_ADMIN_PASSWORD=pa
source ../start-server.sh
export VARVE_USER=admin VARVE_PASSWORD=pa
status=0
for client in "${clients[@]}"; do
  echo "-- $client, with authentication"
  case $client in
    # With a client certificate, on a server of its own: see README.md.
    omrs) ./omrs/certificate.sh || status=1 ;;
    *) "./$client/run.sh" "$url" || status=1 ;;
  esac
done
exit $status
