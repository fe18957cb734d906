"""Runs the examples of a Markdown page: check.py URL PAGE [LANGUAGE COMMAND...]

All blocks that begin with ```sh run in one shell, in the order of the page, with URL for http://127.0.0.1:8080. Every
command must succeed; curl also fails for a status of 400 or more. A block whose first line begins with "$ " is a transcript: the
lines after a command are its whole output. "…" in such a line stands for any text.

With a LANGUAGE, as python, its blocks are then one program, which COMMAND runs; a block ```text after one of them is what that one
prints. BOLT_URL stands for bolt://127.0.0.1:7687.
"""

import os
import re
import subprocess
import sys
import tempfile

ADDRESS = "http://127.0.0.1:8080"
BOLT = "bolt://127.0.0.1:7687"
# What prints the mark in a language, and how its files end.
LANGUAGES = {"python": ("print({mark!r}, flush=True)", ".py"), "js": ("console.log({mark!r});", ".mjs")}
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


def program(page, language):
    """The blocks of a program: (code, expected lines or None)."""
    pattern = rf"^```{language}\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?"
    for code, output in re.findall(pattern, page, re.S | re.M):
        yield code, output.rstrip("\n").split("\n") if output else None


def run_program(url, name, page, language, runner):
    blocks = list(program(page, language))
    if not blocks:
        sys.exit(f"{name}: no block of {language}")
    mark, ending = LANGUAGES[language]
    text = "".join(f"{code}{mark.format(mark=MARK)}\n" for code, _ in blocks)
    text = text.replace(ADDRESS, url).replace(BOLT, os.environ["BOLT_URL"])
    # In the folder of the program's packages, where Node looks for them.
    with tempfile.NamedTemporaryFile("w", suffix=ending, dir=os.environ.get("GUIDE_FOLDER"), encoding="utf-8") as file:
        file.write(text)
        file.flush()
        ran = subprocess.run([*runner, file.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    outputs = ran.stdout.split(f"{MARK}\n")
    if ran.returncode != 0:
        sys.exit(f"FAIL {name}: status {ran.returncode}\n{outputs[-1]}")
    for (code, expected), output in zip(blocks, outputs):
        if expected is not None and not matches(expected, output.strip("\n")):
            sys.exit(f"FAIL {name}: {code}\nexpected: {chr(10).join(expected)}\nprinted: {output}")
    print(f"{name.removeprefix('../../')}: {len(blocks)} blocks of {language} ran")


def matches(expected, actual):
    pattern = "\n".join(".*".join(map(re.escape, line.split("…"))) for line in expected)
    return re.fullmatch(pattern, actual) is not None


def main(url, name, language=None, *runner):
    with open(name, encoding="utf-8") as file:
        page = file.read()
    found = list(commands(page))
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
    if language:
        run_program(url, name, page, language, runner)


main(*sys.argv[1:])
