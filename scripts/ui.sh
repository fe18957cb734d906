#!/usr/bin/env bash
# Builds the explorer (ui/) into the cache folder, under a hash of what it is built from. The hash
# is in VARVE_UI_DIR (scripts/cargo.sh), which is all that cargo looks at, so another checkout with
# the same ui/ builds nothing.
#
#   scripts/ui.sh        builds it, unless it is built
#   scripts/ui.sh where  prints the folder if it is built
#
# Without Node 18 the server is built without the explorer, and /ui says how to get it.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=${XDG_CACHE_HOME:-$HOME/.cache}/varve/ui
hash=$(cd ui && find . \( -name node_modules -o -name dist \) -prune -o -type f -print0 |
  LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16)
folder=$cache/$hash

if [[ ${1:-} == where ]]; then
  [[ ! -f $folder/index.html.gz ]] || echo "$folder"
  exit 0
fi
if [[ -f $folder/index.html.gz ]]; then exit 0; fi
if ! command -v npm >/dev/null || ! node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null; then
  echo 'ui: Node 18 or newer and npm are missing: the server is built without the explorer'
  echo 'ui: to have it, run this, then start again: sudo apt-get install -y nodejs npm'
  exit 0
fi

mkdir -p "$cache"
work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
# The libraries stay for the next build, under a hash of their versions.
modules=$cache/modules-$(sha256sum ui/package-lock.json | cut -c1-16)
if [[ ! -d $modules ]]; then
  echo 'ui: fetching the libraries of the explorer (npm ci)'
  mkdir "$work/modules"
  cp ui/package.json ui/package-lock.json ui/.npmrc "$work/modules"
  if ! (cd "$work/modules" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error); then
    echo 'ui: the libraries could not be fetched: the server is built without the explorer'
    exit 0
  fi
  mv -T "$work/modules" "$modules" 2>/dev/null || [[ -d $modules ]]
fi
echo 'ui: building the explorer'
mkdir "$work/ui"
tar -C ui --exclude=./node_modules --exclude=./dist -cf - . | tar -C "$work/ui" -xf -
ln -s "$modules/node_modules" "$work/ui/node_modules"
cd "$work/ui"
node_modules/.bin/tsc --noEmit
# Node lacks what tells the theme of a browser.
node_modules/.bin/esbuild test/*.test.ts --bundle --platform=node --format=esm --outdir=test/out --out-extension:.js=.mjs \
  --banner:js='globalThis.matchMedia = () => ({ matches: false, addEventListener() {} });' --log-level=warning
node --test test/out/*.mjs >test.log || { cat test.log; exit 1; }
node_modules/.bin/vite build --logLevel warn
cd "$OLDPWD"
mv -T "$work/ui/dist" "$folder" 2>/dev/null || [[ -d $folder ]]
