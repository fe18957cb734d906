#!/usr/bin/env bash
# The cost of authentication and TLS: reads of one vertex by its id over kept connections,
# anonymous, with a token, with a name and a password, over TLS, and with a token over TLS. Each has
# a server of its own; they are measured by turns, and the medians of the rounds are compared.
#   bench/auth.sh [rounds [requests [connections]]]      VARVE_BIN: the server's binary
# The rate includes the CPU time of the load tool, which is higher with TLS; the CPU time is the
# server's alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
rounds="${1:-5}" requests="${2:-50000}" connections="${3:-1}"
bin="${VARVE_BIN:-target/release/varve}"
tls=crates/engines/varve-kv-cassandra/tests/tls
work="$(mktemp -d)"
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || true; rm -rf -- "$work"' EXIT
unset VARVE_USER VARVE_PASSWORD VARVE_TOKEN
names=('anonymous' 'token' 'name and password' 'TLS' 'TLS and token')
ways=('' token password '' token)
authenticated='--set auth.enabled=true' with_tls="--set tls.certificate_file=$tls/node.pem --set tls.key_file=$tls/node.key"
options=('' "$authenticated" "$authenticated" "$with_tls" "$authenticated $with_tls")
urls=() trusts=() identities=()
start() { # its number
  local log="$work/log$1" url trust=() identity=()
  # shellcheck disable=SC2086
  VARVE_ADMIN_PASSWORD=measured "$bin" serve --listen 127.0.0.1:0 --engine memory ${options[$1]} >"$log" 2>&1 &
  servers+=("$!")
  for _ in $(seq 1 300); do
    url="$(grep -o 'serves on https\?://[0-9.:]*' "$log" | cut -d' ' -f3)" && break
    sleep 0.1
  done
  [[ $url != https* ]] || trust=(--ca-file "$tls/ca.pem")
  case ${ways[$1]} in
    password) identity=(VARVE_USER=admin VARVE_PASSWORD=measured) ;;
    token)
      identity=("VARVE_TOKEN=$(curl -s "${trust[@]/--ca-file/--cacert}" "$url/auth/login" -H 'content-type: application/json' \
        -d '{"user_name":"admin","user_password":"measured"}' | sed 's/.*"token":"\([^"]*\)".*/\1/')")
      ;;
  esac
  urls+=("$url") trusts+=("${trust[*]}") identities+=("${identity[*]}")
}
run() { # number of the server, requests, further arguments
  local number=$1 count=$2 out
  shift 2
  # shellcheck disable=SC2086
  out="$(env ${identities[$number]} "$bin" bench api --url "${urls[$number]}" ${trusts[$number]} --run-prefix abc \
    --scenario vertex_by_id --model closed --users "$connections" --vertices 10000 --warmup 1s --hold 600s \
    --server-pid "${servers[$number]}" --requests "$count" "$@" 2>&1)" || { echo "$out" >&2; return 1; }
  sed -n 's|.* samples, \([0-9.]*\)/s.*errors 0\.00 %, server \([0-9.]*\) µs.*|\1 \2|p' <<<"$out"
}
for number in "${!names[@]}"; do
  start "$number"
  run "$number" 1000 >/dev/null
done
for _ in $(seq 1 "$rounds"); do
  for number in "${!names[@]}"; do
    run "$number" "$requests" --loaded >>"$work/figures$number"
  done
done
median() { # file, column
  cut -d' ' -f"$2" "$1" | sort -n | awk '{ all[NR] = $1 } END { print (all[int((NR + 1) / 2)] + all[int((NR + 2) / 2)]) / 2 }'
}
printf 'medians of %s rounds, %s reads each over %s connections\n\n' "$rounds" "$requests" "$connections"
echo '| way | reads/s | ÷ anonymous | server CPU, µs a read | anonymous ÷ this |'
echo '|---|---|---|---|---|'
for number in "${!names[@]}"; do
  rate="$(median "$work/figures$number" 1)" us="$(median "$work/figures$number" 2)"
  [[ $number != 0 ]] || base_rate=$rate base_us=$us
  awk -v name="${names[number]}" -v rate="$rate" -v us="$us" -v base_rate="$base_rate" -v base_us="$base_us" 'BEGIN {
    printf "| %s | %.0f | %.2f | %.1f | %.2f |\n", name, rate, rate / base_rate, us, base_us / us
  }'
done
