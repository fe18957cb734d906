# Sourced by the scripts beside it: runs test programs of the workspace one by one, as `make test` has built them.
#
#   program PACKAGE TARGET ARGUMENTS...    a test program in the folder of its package; TARGET is a file in its tests/, or `lib`
#
# `cargo test -p PACKAGE` would choose other features for the dependencies, and compile them anew.
programs=$(scripts/cargo.sh test -q --release --locked --workspace --no-run --message-format json |
  python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message["profile"]["test"]:
        folder = message["manifest_path"].removesuffix("/Cargo.toml")
        kind = message["target"]["kind"][0]
        target = message["target"]["name"] if kind == "test" else kind
        print(folder.split("/")[-1], target, folder, message["executable"])')

program() {
  local package=$1 target=$2 folder executable
  shift 2
  read -r folder executable < <(awk -v package="$package" -v target="$target" '$1 == package && $2 == target { print $3, $4 }' <<<"$programs") || true
  [[ -x $executable ]] || { echo "there is no test program $target of $package" >&2; return 1; }
  (cd "$folder" && "$executable" "$@")
}
