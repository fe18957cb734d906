#!/usr/bin/env bash
# What authentication and TLS cost: the server's CPU time for a read of one vertex by its id, over
# connections that stay open, without either, with a token, with a name and a password, and with a
# token over TLS.
#   bench/doors.sh [requests]      VARVE_BIN says which server
# CPU time and not the rate, since the load tool takes processors of its own, and most for TLS.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
requests="${1:-100000}"
bin="${VARVE_BIN:-target/release/varve}"
tls=crates/varve-kv-cassandra/tests/tls
work="$(mktemp -d)"
trap 'kill "${server:-0}" 2>/dev/null || true; rm -rf -- "$work"' EXIT
base=''
measure() { # name, user or empty, options of the server
  local name=$1 way=$2 url us trust=() arguments
  shift 2
  VARVE_ADMIN_PASSWORD=measured "$bin" serve --listen 127.0.0.1:0 --engine memory "$@" >"$work/log" 2>&1 &
  server=$!
  for _ in $(seq 1 300); do
    url="$(grep -o 'serves on https\?://[0-9.:]*' "$work/log" | cut -d' ' -f3)" && break
    sleep 0.1
  done
  [[ $url != https* ]] || trust=(--ca-file "$tls/ca.pem")
  unset VARVE_USER VARVE_PASSWORD VARVE_TOKEN
  case $way in
    password) export VARVE_USER=admin VARVE_PASSWORD=measured ;;
    token)
      VARVE_TOKEN="$(curl -s "${trust[@]/--ca-file/--cacert}" "$url/auth/login" -H 'content-type: application/json' \
        -d '{"user_name":"admin","user_password":"measured"}' | sed 's/.*"token":"\([^"]*\)".*/\1/')"
      export VARVE_TOKEN
      ;;
  esac
  arguments=(bench api --url "$url" "${trust[@]}" --scenario vertex_by_id --model closed --users 16
    --vertices 10000 --warmup 1s --hold 600s --server-pid "$server")
  us="$("$bin" "${arguments[@]}" --requests "$requests" 2>&1 | grep -o 'server [0-9.]* µs' | head -1 | cut -d' ' -f2)"
  kill "$server"
  wait "$server" 2>/dev/null || true
  awk -v name="$name" -v us="$us" -v base="$base" 'BEGIN {
    printf "%-20s %6.1f us of CPU a request%s\n", name, us, base == "" ? "" : sprintf(", %.2f of the anonymous rate", base / us)
  }'
  [[ -n $base ]] || base=$us
}
authenticated=(--set auth.enabled=true)
measure anonymous ''
measure 'token' token "${authenticated[@]}"
measure 'name and password' password "${authenticated[@]}"
measure 'TLS' '' --set "tls.certificate_file=$tls/node.pem" --set "tls.key_file=$tls/node.key"
measure 'TLS and token' token "${authenticated[@]}" --set "tls.certificate_file=$tls/node.pem" --set "tls.key_file=$tls/node.key"
