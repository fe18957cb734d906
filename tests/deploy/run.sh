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

everything=(
  --set networkPolicy.podLabels.role=client --set benchmarks.api.enabled=true --set benchmarks.metadata.enabled=true
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
check 'both load tests' test "$(grep -c '^kind: Job' <<<"$full")" = 2
check 'results are kept' has "$full" 'claimName: results'
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

# Every option of the load tests is known to the program.
for suite in api metadata; do
  help="$("$bin" bench "$suite" --help)"
  job="$(render --set "benchmarks.$suite.enabled=true" | awk '/^kind: Job/ { on = 1 } on')"
  for option in $(grep -oE -- '--[a-z-]+' <<<"$job" | grep -v '^---' | sort -u); do
    check "bench $suite has $option" has "$help" "$option"
  done
done

echo "chart: $passed passed, $failed failed"
[[ $failed -eq 0 ]]
