# Sourced by the run.sh files beside it: starts the built server on a free port with data of its own, sets `url`,
# and stops it when the script ends. VARVE_BIN says which server; VARVE_ENGINE which storage engine;
# the array `server_options` holds further options.
server_bin="${VARVE_BIN:-$(dirname "${BASH_SOURCE[0]}")/../target/release/varve}"
server_data="$(mktemp -d "${TMPDIR:-/tmp}/varve-test.XXXXXX")"
server_log="$server_data/server.log"
# What lies outside of the data folder is new for each server, too.
if [[ ${VARVE_ENGINE:-} == cassandra ]]; then
  VARVE_STORAGE_CASSANDRA_KEYSPACE="t$(basename "$server_data" | tr -dc 'a-zA-Z0-9' | tr 'A-Z' 'a-z' | tail -c 9)"
  head -c 32 /dev/urandom | base64 >"$server_data/cluster.key"
  export VARVE_STORAGE_CASSANDRA_KEYSPACE VARVE_AUTH_CLUSTER_KEY_FILE="$server_data/cluster.key"
fi
# Starts it; once more on the same data, if it was stopped.
launch_server() {
  : >"$server_log"
  "$server_bin" serve --listen 127.0.0.1:0 --data-dir "$server_data/data" \
    ${VARVE_ENGINE:+--engine "$VARVE_ENGINE"} ${server_options[@]+"${server_options[@]}"} >"$server_log" 2>&1 &
  server_pid=$!
  url=''
  for _ in $(seq 1 300); do # at most 30 seconds
    url="$(grep -oE 'serves on https?://[0-9.:]*' "$server_log" | head -1 | cut -d' ' -f3)" || true
    [[ -n $url ]] && break
    kill -0 "$server_pid" 2>/dev/null || break
    sleep 0.1
  done
  [[ -n $url ]] || { echo "the server did not start:"; cat "$server_log"; exit 1; }
}
stop_server() {
  kill "$server_pid" 2>/dev/null || true
  wait "$server_pid" 2>/dev/null || true
  rm -rf -- "$server_data"
}
trap stop_server EXIT
launch_server
# Where it serves Bolt, if an option says that it does.
if [[ " ${server_options[*]-} " == *' bolt.listen='* ]]; then
  export BOLT_URL=''
  for _ in $(seq 1 50); do
    BOLT_URL="$(grep -oE 'bolt(\+s)?://[0-9.:]*' "$server_log" | head -1)" || true
    [[ -z $BOLT_URL ]] || break
    sleep 0.1
  done
fi
