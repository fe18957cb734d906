"""Runs the examples of a Markdown page: check.py URL PAGE

All blocks that begin with ```sh run in one shell, in the order of the page, with URL for http://127.0.0.1:8080. Every
command must succeed; curl also fails for a status of 400 or more. A block whose first line begins with "$ " is a transcript: the
lines after a command are its whole output. "…" in such a line stands for any text.
"""

import re
import subprocess
import sys

ADDRESS = "http://127.0.0.1:8080"
MARK = "==end of command=="
PRELUDE = 'set -euo pipefail; curl() { command curl -sS --fail-with-body "$@"; }\n'


def commands(page):
    """The commands of a page: (command, expected lines or None)."""
    for block in re.findall(r"^```sh\n(.*?)^```$", page, re.S | re.M):
        if not block.startswith("$ "):
            yield block, None
            continue
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            lines = part.rstrip("\n").split("\n")
            command = lines.pop(0)
            while command.endswith("\\"):
                command += "\n" + lines.pop(0)
            yield command, lines


def matches(expected, actual):
    pattern = "\n".join(".*".join(map(re.escape, line.split("…"))) for line in expected)
    return re.fullmatch(pattern, actual) is not None


def main(url, name):
    with open(name, encoding="utf-8") as file:
        found = list(commands(file.read()))
    if not found:
        sys.exit(f"{name}: no example")
    # A command's output ends without a line break as often as with one.
    script = PRELUDE + "".join(f"{command.replace(ADDRESS, url)}\necho; echo '{MARK}'\n" for command, _ in found)
    ran = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    outputs = ran.stdout.split(f"\n{MARK}\n")
    for (command, expected), output in zip(found, outputs):
        if expected is not None and not matches(expected, output.strip("\n")):
            sys.exit(f"FAIL {name}: {command}\nexpected: {chr(10).join(expected)}\nanswered: {output}")
    if ran.returncode != 0:
        sys.exit(f"FAIL {name}: status {ran.returncode}\n{outputs[-1]}")
    print(f"{name.removeprefix('../../')}: {len(found)} examples ran")


main(*sys.argv[1:])
