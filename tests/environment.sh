# Sourced by the run.sh files beside it, in their folders: makes the Python environment of the folder's requirements.txt, and sets
# `environment`. The packages are installed once, into a folder that outlives clean clones. Without Python or the packages, the
# tests are skipped.
if ! python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  echo 'skipped: no Python 3.11 or later with venv is here'
  exit 0
fi
environment="${XDG_CACHE_HOME:-$HOME/.cache}/varve/$(basename "$PWD")"
wanted="$(sha256sum requirements.txt | cut -d' ' -f1)"
if [[ "$(cat "$environment/installed" 2>/dev/null)" != "$wanted" ]]; then
  log="$(mktemp)"
  if ! { python3 -m venv --clear "$environment" && "$environment/bin/pip" install --quiet -r requirements.txt; } >"$log" 2>&1; then
    tail -3 "$log"
    echo 'skipped: the packages could not be installed'
    exit 0
  fi
  echo "$wanted" >"$environment/installed"
fi
