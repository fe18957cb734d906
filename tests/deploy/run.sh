#!/usr/bin/env bash
# Checks the Helm chart without a cluster: lint, what it renders with and without its options, that the server accepts the
# configuration in it, that the load tests' options exist, and that wrong values are refused. Needs helm, or go to build it.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
readonly chart=../../deploy/helm/varve helm_version=v3.14.4
bin="${VARVE_BIN:-../../target/release/varve}"
tools="${XDG_CACHE_HOME:-$HOME/.cache}/varve/tools"

helm="${HELM:-$(command -v helm || true)}"
[[ -n $helm ]] || helm="$tools/helm"
if [[ ! -x $helm ]]; then
  if ! command -v go >/dev/null; then
    echo "skipped: neither helm nor go (to build it) is here"
    exit 0
  fi
  echo "building helm $helm_version (some minutes, once)"
  log="$(mktemp)"
  if ! GOBIN="$tools" go install "helm.sh/helm/v3/cmd/helm@$helm_version" >"$log" 2>&1; then
    tail -5 "$log"
    echo "skipped: helm could not be built"
    exit 0
  fi
fi

passed=0
failed=0
check() { # what, command…
  local what=$1
  shift
  local output
  if output="$("$@" 2>&1)"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n%s\n' "$what" "$output"
  fi
}
# A helm that go built believes in a Kubernetes of long ago.
render() { "$helm" template varve "$chart" --kube-version 1.29.0 "$@"; }
has() { grep -qF -- "$2" <<<"$1"; }
has_not() { [[ -n $1 ]] && ! grep -qF -- "$2" <<<"$1"; }
refused() { # message, options…
  local message=$1 output
  shift
  if output="$(render "$@" 2>&1)"; then
    echo "was accepted"
    return 1
  fi
  grep -qF -- "$message" <<<"$output" || { echo "$output"; return 1; }
}

omrs=(--set config.omrs.enabled=true)
suite=("${omrs[@]}" --set benchmarks.metadata.enabled=true)
everything=(
  --set networkPolicy.podLabels.role=client "${suite[@]}" --set 'networkPolicy.from[0].namespaceSelector.matchLabels.team=egeria'
  --set benchmarks.resultsClaim=results --set persistence.storageClass=fast --set 'imagePullSecrets[0].name=pull'
  --set config.storage.durability=interval:100 --set config.server.gzip_level=3 --set config.graph.create='{hugegraph,other}'
  --set serviceAccount.name=own --set podAnnotations.a=b --set nodeSelector.disk=ssd
)
check 'lint' "$helm" lint --strict --kube-version 1.29.0 "$chart"
check 'lint with everything on' "$helm" lint --strict --kube-version 1.29.0 "$chart" "${everything[@]}"

plain="$(render)"
full="$(render "${everything[@]}")"
check 'one server' has "$plain" 'replicas: 1'
check 'a volume of its own' has "$plain" 'volumeClaimTemplates:'
check 'not as root' has "$plain" 'runAsNonRoot: true'
check 'nothing written outside the volumes' has "$plain" 'readOnlyRootFilesystem: true'
check 'a network policy unless it is declined' has "$plain" 'kind: NetworkPolicy'
check 'no load test unless it is asked for' has_not "$plain" 'kind: Job'
probe() { has "$(grep -A 1 -F "$1Probe:" <<<"$plain")" "httpGet: {path: $2, port: http}"; }
check 'no requests for a server that waits' probe readiness /health
check 'nor is it restarted at its start' probe startup /versions
check 'nor later' probe liveness /versions
job() { render "$@" | awk '/^---$/ { on = 0 } /^kind: Job$/ { on = 1 } on'; }
named() { job "$@" | awk '/^  name: / { print $2; exit }'; }
check 'a load test' test "$(grep -c '^kind: Job' <<<"$full")" = 1
check 'the other load test' test -n "$(named --set benchmarks.api.enabled=true)"
check 'not both at once' refused 'enable one of them' "${suite[@]}" --set benchmarks.api.enabled=true
check 'no suite without a repository' refused 'needs config.omrs.enabled' --set benchmarks.metadata.enabled=true
check 'results are kept' has "$full" 'claimName: results'
check 'times of all calls as well' has "$full" '- --evidence'
check 'but not where they go with the pod' has_not "$(job "${suite[@]}")" '- --evidence'
for wait in api metadata; do
  check "bench $wait waits for the server" has "$(job "${omrs[@]}" --set "benchmarks.$wait.enabled=true")" '- --wait'
done
check 'a load test does not run again because of something else' test "$(named "${suite[@]}")" = \
  "$(named "${suite[@]}" --set podAnnotations.a=b,config.storage.memory_mib=1024,resources.limits.memory=4Gi)"
check 'but when it is another' test "$(named "${suite[@]}")" != "$(named "${suite[@]}" --set 'benchmarks.metadata.args={--types,3}')"
check 'other callers' has "$(grep -A 20 'ingress:' <<<"$full")" 'team: egeria'
# Names of objects and values of labels; a pod of a Job has six characters more, which the system makes fit.
long="$(printf 'a%.0s' {1..53})"
short_names() { # options…
  local rendered
  rendered="$("$helm" template "$long" "$chart" --kube-version 1.29.0 "$@")" && has "$rendered" 'kind: Job' || return 1
  ! grep -oE '^ *(- )?(name|serviceName|[a-z.]+[.](io|sh)/[a-z]+): .*' <<<"$rendered" |
    awk '{ gsub(/"/, "", $NF); if (length($NF) > 63) print }' | grep .
}
check 'no name over 63 characters' short_names "${suite[@]}"
check 'whatever the name is' short_names "${suite[@]}" --set "nameOverride=$long$long"
check 'or all of it' short_names "${suite[@]}" --set "fullnameOverride=$long$long"
check 'no variables of Services in the server' has "$plain" 'enableServiceLinks: false'
check 'nor in load tests' has "$(job "${suite[@]}")" 'enableServiceLinks: false'
check '/admin for the pod alone' has "$plain" 'server.admin_listen=127.0.0.1:8081'
check '/admin listener set by hand' refused 'is set by the chart' --set config.server.admin_listen=0.0.0.0:1
check 'storage class' has "$full" 'storageClassName: "fast"'
check 'service account' has "$full" 'serviceAccountName: own'
check 'no volume of its own when there is one' has_not "$(render --set persistence.existingClaim=mine)" 'volumeClaimTemplates:'
check 'without persistence' has "$(render --set persistence.enabled=false)" 'emptyDir: {}'
check 'port set by hand' refused 'is set by the chart' --set config.server.port=1
check 'data folder set by hand' refused 'is set by the chart' --set config.storage.data_dir=/x
check 'nested option' refused 'must be one value' --set config.storage.memory_mib.a=1

# The server reads what the chart writes.
options="$(mktemp -d)"
trap 'rm -rf -- "$options"' EXIT
configuration() { awk '/^  varve.toml: \|/ { on = 1; next } on && !/^    / && NF { exit } on { sub(/^    /, ""); print }'; }
configuration <<<"$full" >"$options/varve.toml"
check 'the configuration is not empty' test -s "$options/varve.toml"
check 'the server accepts the configuration' "$bin" config --config "$options/varve.toml"
check 'and takes it' grep -qF 'interval:100' <("$bin" config --config "$options/varve.toml")
check 'the Service and its pod are names of the server' has "$(cat "$options/varve.toml")" '"varve","varve.default","varve.default.svc","varve.default.svc.cluster.local","varve-0.varve-pods"'
check 'and those that are given' has "$(render --set 'config.server.public_names={a.example}')" '"varve-0.varve-pods.default.svc.cluster.local","a.example"]'
check 'instances tell the address of the Service' has "$(cat "$options/varve.toml")" 'base_url = "http://varve:8080/servers/varve"'
check 'or the one that is given' has "$(render "${omrs[@]}" --set config.omrs.base_url=http://a/servers/b)" 'base_url = "http://a/servers/b"'
check 'with the name of the server' has "$(render "${omrs[@]}" --set 'config.omrs.server_names={b,c}')" ':8080/servers/b"'
check 'nothing of it without a repository' has_not "$plain" 'base_url'

# Every option of the load tests is known to the program.
for tool in api metadata; do
  help="$("$bin" bench "$tool" --help)"
  job="$(job "${omrs[@]}" --set "benchmarks.$tool.enabled=true" --set benchmarks.resultsClaim=results)"
  for option in $(grep -oE -- '--[a-z-]+' <<<"$job" | grep -v '^---' | sort -u); do
    check "bench $tool has $option" has "$help" "$option"
  done
done

echo "chart: $passed passed, $failed failed"
[[ $failed -eq 0 ]]
