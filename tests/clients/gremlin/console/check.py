"""TinkerPop's console, with its own configuration but for the address, against a server that fill.py has filled:

    check.py FOLDER_OF_THE_CONSOLE http://host:port
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

CONSOLE = pathlib.Path(sys.argv[1]).resolve()
ADDRESS = urllib.parse.urlsplit(sys.argv[2])
USER, PASSWORD = os.environ.get("VARVE_USER"), os.environ.get("VARVE_PASSWORD")
CONSOLE_SECONDS_MAX = 120
# Where the console says which server it uses.
SERVER = rf".*/{re.escape(ADDRESS.hostname)}:{ADDRESS.port}"
SESSION = SERVER + r"\]?-\[[-0-9a-f]{36}\]"

# What a user types, and a pattern for each line of the answer.
DIALOGUE = [
    (":remote connect tinkerpop.server conf/remote.yaml", [f"==>Configured {SERVER}"]),
    (":> g.V().count()", ["==>1006"]),
    (":> g.V(1)", [r"==>v\[1\]"]),
    (":> g.V(1).valueMap()", [r"==>\{name=\[marko\], age=\[29\]\}"]),
    (":> g.V(99)", []),
    (":remote config alias g __g_hugegraph", ["==>g=__g_hugegraph"]),
    (":> g.V(1).out('knows').values('name').order()", ["==>josh", "==>vadas"]),
    (":remote console", [f"==>All scripts will now be sent to Gremlin Server - .*{SERVER}.*"]),
    ("g.V().hasLabel('person').values('name').order()", ["==>josh", "==>marko", "==>peter", "==>vadas"]),
    (":remote console", ["==>All scripts will now be evaluated locally.*"]),
    (":remote close", [f"==>Removed - Gremlin Server - .*{SERVER}.*"]),
    (":remote connect tinkerpop.server conf/remote.yaml session", [f"==>Configured {SESSION}"]),
    (":> x = 2", ["==>2"]),
    (":> g.V(x).values('name')", ["==>vadas"]),
    (":remote console", [f"==>All scripts will now be sent to Gremlin Server - .*{SESSION}.*"]),
    ("y = x + 2", ["==>4"]),
    ("g.V(y).values('name')", ["==>josh"]),
    (":remote console", ["==>All scripts will now be evaluated locally.*"]),
    (":remote close", [f"==>Removed - Gremlin Server - .*{SESSION}.*"]),
    ("g = traversal().withRemote('conf/remote-graph.properties')", [r"==>graphtraversalsource\[.*\]"]),
    ("g.V().hasLabel('person').values('age').order()", ["==>27", "==>29", "==>32", "==>35"]),
    ("v = g.V(1).next()", [r"==>v\[1\]"]),
    ("v.value('age')", ["==>29"]),
    ("g.V(v).outE().count()", ["==>3"]),
    ("g.inject(1.4000000000000001d, 9007199254740993L, [a:1]).toList()", ["==>1.4000000000000001", "==>9007199254740993", r"==>\[a:1\]"]),
    # The last one: after an error the console drops what it has read ahead.
    (":remote connect tinkerpop.server conf/remote.yaml", [f"==>Configured {SERVER}"]),
    (":> g.V().nonsense()", [".*nonsense.*", "Type ':help' or ':h' for help.", "Display stack trace.*"]),
]


def configure(folder):
    """A console of its own, whose files have another address, and a user if there is one."""
    login = f"username: {USER}\npassword: {PASSWORD}\n" if USER else ""
    for part in CONSOLE.iterdir():
        if part.name in ("bin", "conf"):
            shutil.copytree(part, folder / part.name)
        else:
            (folder / part.name).symlink_to(part)
    for name in ("remote.yaml", "remote-objects.yaml"):
        file = folder / "conf" / name
        text, hosts = re.subn(r"(?m)^hosts:.*", f"hosts: [{ADDRESS.hostname}]", file.read_text())
        text, ports = re.subn(r"(?m)^port:.*", f"port: {ADDRESS.port}", text)
        assert hosts == ports == 1, f"{file} has no host or no port"
        file.write_text(f"{text}\n{login}")


def main():
    typed = "".join(command + "\n" for command, _ in DIALOGUE) + "n\n"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        configure(folder)
        console = subprocess.run(
            ["bash", "bin/gremlin.sh"], cwd=folder, input=typed, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=CONSOLE_SECONDS_MAX,
        )  # fmt: skip
    # The console repeats each command behind its prompt.
    answers = [block.splitlines() for block in console.stdout.split("gremlin> ")[1:]]
    passed = failed = 0
    for at, (command, wanted) in enumerate(DIALOGUE):
        got = answers[at] if at < len(answers) else []
        lines = got[1:]
        if got[:1] == [command] and len(lines) == len(wanted) and all(map(re.fullmatch, wanted, lines)):
            passed += 1
        else:
            failed += 1
            print(f"FAILED {command}: got {got!r}, wanted {wanted!r}")
    if failed:
        print(console.stdout)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
