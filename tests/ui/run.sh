#!/usr/bin/env bash
# Drives the explorer in a real browser against the built server. Needs Debian's Chromium and Python
# 3.10 with venv; Playwright is installed once, from PyPI, into a folder that outlives clean clones.
# `run.sh [NAME…]` runs the tests whose names have a NAME; `run.sh --pictures FOLDER` measures the
# canvas at 300, 2,000 and 10,000 vertices and keeps pictures.
# What is missing skips the test, unless VARVE_REQUIRE_BROWSER is set.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
without() {
  if [[ -n ${VARVE_REQUIRE_BROWSER:-} ]]; then
    echo "failed: $1, and VARVE_REQUIRE_BROWSER wants a browser"
    exit 1
  fi
  echo "skipped: $1"
  exit 0
}
cache="${XDG_CACHE_HOME:-$HOME/.cache}/varve"
chromium=$(command -v chromium || command -v chromium-browser || true)
if [[ -z $chromium ]] && command -v apt-get >/dev/null && [[ $(id -u) -eq 0 ]]; then
  echo 'installing chromium with apt-get'
  { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends chromium fonts-noto-cjk; } >/dev/null 2>&1
  chromium=$(command -v chromium || true)
fi
[[ -n $chromium ]] || without 'there is no Chromium (apt-get install chromium)'
python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || without 'no Python 3.10 or later with venv is here'
environment=$cache/ui-tests
wanted="$(sha256sum requirements.txt | cut -d' ' -f1)"
if [[ "$(cat "$environment/installed" 2>/dev/null)" != "$wanted" ]]; then
  log="$(mktemp)"
  if ! { python3 -m venv --clear "$environment" && "$environment/bin/pip" install --quiet -r requirements.txt; } >"$log" 2>&1; then
    tail -3 "$log"
    without 'Playwright could not be installed'
  fi
  echo "$wanted" >"$environment/installed"
fi
axe=$cache/ui/modules-$(sha256sum ../../ui/package-lock.json | cut -c1-16)/node_modules/axe-core/axe.min.js
export VARVE_TEST_CHROMIUM=$chromium VARVE_TEST_AXE=$axe
server_options=(--set omrs.enabled=true)
source ../start-server.sh
export VARVE_TEST_SERVER=$(realpath "$server_bin")
if [[ ${1:-} == --pictures ]]; then
  "$environment/bin/python" crowd.py "$url" "${@:2}"
else
  "$environment/bin/python" check.py "$url" "$@"
fi
status=$?
exit $status
