#!/bin/sh
# A server whose store has a problem: `serve` as $VARVE does it, with something left in the data folder; `verify` finds it.
if [ "$1" = verify ]; then
  echo 'hugegraph: a row that should not be there'
  exit 3
fi
previous=
for word; do
  [ "$previous" = --data-dir ] && echo row >"$word/row"
  previous=$word
done
exec "$VARVE" "$@"
