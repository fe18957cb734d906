"""Starts a server for each attack, runs the attack, and says how much memory the server took and how long others waited."""

import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import attacks
from client import connect, once, request, timed

MIB = 1 << 20
#: The server's own budget in these runs, and what it may take in all.
MEMORY_MIB = 256
RESIDENT_MIB_MAX = 1024
#: Others may wait so many times as long as when nothing else goes on.
SLOWER_MAX = 10
#: Below this a median says more of the machine than of the server, in seconds.
QUIET_S_MIN = 0.001
SMALL_COUNT = 100_000
BATCH = 50
#: The `small` vertices that have edges, and how many lead from each.
WEB = 2_000
WEB_DEGREE = 20


class Server:
    def __init__(self, binary, options=(), environment=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="varve-hostile-"))
        log = self.folder / "server.log"
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--data-dir", str(self.folder / "data")]
        command += ["--durability", "none", "--set", f"storage.memory_mib={MEMORY_MIB}", *options]
        environment = {**os.environ, **(environment or {})}
        with log.open("w") as out:
            self.process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
        for _ in range(300):
            found = re.search(r"serves on http://([0-9.]+):(\d+)", log.read_text())
            if found:
                self.address = (found[1], int(found[2]))
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        sys.exit("the server did not start:\n" + log.read_text())

    def peak_mib(self):
        """The most that was resident since the start."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) // 1024

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def vertices(label, numbers, **properties):
    return json.dumps([{"label": label, "id": f"{label}{n}", "properties": properties} for n in numbers]).encode()


def web(numbers):
    """Edges that lead from each of these to others, so that three hops lead everywhere."""
    edges = []
    for n in numbers:
        for k in range(WEB_DEGREE):
            ends = {"outV": f"small{n}", "inV": f"small{(7 * n + 131 * k + 1) % WEB}"}
            edges.append({"label": "near", "outVLabel": "small", "inVLabel": "small", "properties": {}, **ends})
    return json.dumps(edges).encode()


def fill(address):
    """A schema, elements whose listing is nearly as large as an answer may be, and many small ones."""
    with connect(address) as connection:

        def post(path, body):
            status, answer = request(connection, "POST", f"{attacks.GRAPH}/{path}", body)
            if status not in (201, 202):
                sys.exit(f"{path}: {status} {answer[:300]}")

        for name, kind, cardinality in [("text", "TEXT", "SINGLE"), ("numbers", "INT", "LIST")]:
            key = {"name": name, "data_type": kind, "cardinality": cardinality}
            post("schema/propertykeys", json.dumps(key).encode())
        for name in ["blob", "small"]:
            label = {"name": name, "id_strategy": "CUSTOMIZE_STRING", "properties": ["text", "numbers"]}
            label["nullable_keys"] = ["text", "numbers"]
            post("schema/vertexlabels", json.dumps(label).encode())
        for first in range(0, 1000, 100):
            post("graph/vertices/batch", vertices("blob", range(first, first + 100), text="b" * 60_000))
        for first in range(0, SMALL_COUNT, 2500):
            post("graph/vertices/batch", vertices("small", range(first, first + 2500), text="s"))
        near = {"name": "near", "source_label": "small", "target_label": "small"}
        post("schema/edgelabels", json.dumps(near).encode())
        for first in range(0, WEB, 2500 // WEB_DEGREE):
            post("graph/edges/batch?check_vertex=false", web(range(first, first + 2500 // WEB_DEGREE)))


def watch(address, seconds):
    """How long others wait, each kind on a connection of its own: medians in seconds by name, and what was refused."""
    kinds = {
        "versions": ("GET", "/versions", None),
        "point read": ("GET", f"{attacks.VERTICES}/%22small7%22", None),
        "batch": ("POST", f"{attacks.VERTICES}/batch", lambda n: vertices("small", range(BATCH), text=str(n))),
    }
    medians, refusals = {}, {}

    def run(name, method, path, body):
        took, refused = timed(address, method, path, body, time.monotonic() + seconds, 3)
        medians[name] = statistics.median(took) if took else float("inf")
        refusals[name] = refused

    threads = [threading.Thread(target=run, args=(name, *kind)) for name, kind in kinds.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return medians, {name: refused for name, refused in refusals.items() if refused}


def run(binary, attack, seconds, many):
    server = Server(binary)
    try:
        fill(server.address)
        before = server.peak_mib()
        attacks.complaints.clear()
        quiet, _ = watch(server.address, 2)
        clients = []
        until = time.monotonic() + seconds
        attacking = threading.Thread(
            target=lambda: clients.append(attack(server.address, until, many)), daemon=True
        )
        attacking.start()
        time.sleep(1)
        loaded, refused = watch(server.address, max(2, seconds - 2))
        attacking.join(120)
        status, _ = once(server.address, "GET", "/versions")
        return {
            "attack": attack.__name__.replace("_", " "),
            "clients": clients[0] if clients else None,
            "before": before,
            "peak": server.peak_mib(),
            "quiet": quiet,
            "loaded": loaded,
            "refused": refused,
            "complaints": list(attacks.complaints),
            "served": status == 200 and server.process.poll() is None,
        }
    finally:
        server.stop()


def faults(row, judge_times):
    if row["clients"] is None:
        yield "the attack did not end"
    if not row["served"]:
        yield "the server does not answer any more"
    if row["peak"] >= RESIDENT_MIB_MAX:
        yield f"{row['peak']} MiB resident, and {RESIDENT_MIB_MAX} are allowed"
    yield from row["complaints"][:5]
    if judge_times:
        for name, quiet in row["quiet"].items():
            ratio = row["loaded"][name] / max(quiet, QUIET_S_MIN)
            if ratio > SLOWER_MAX:
                yield f"{name} takes {ratio:.1f} times as long"


def table_row(row):
    def of(name):
        return f"{1000 * row['quiet'][name]:.1f} → {1000 * row['loaded'][name]:.1f}"

    cells = [row["attack"], row["clients"], row["before"], row["peak"], *map(of, ["versions", "point read", "batch"])]
    return "| " + " | ".join(map(str, cells)) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--long", action="store_true", help="more clients for longer; also judges how long others wait")
    parser.add_argument("--only", help="names of attacks, with commas")
    arguments = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    seconds, many = (20, 300) if arguments.long else (6, 100)
    wanted = arguments.only.split(",") if arguments.only else None
    unknown = set(wanted or []) - {attack.__name__ for attack in attacks.ALL_ATTACKS}
    if unknown:
        parser.error(f"no attack is called {', '.join(sorted(unknown))}")
    print("| attack | clients | MiB before | MiB peak | `/versions` ms, quiet → under attack | point read | batch |")
    print("|---|---|---|---|---|---|---|")
    failed = []
    attacks.prepare()
    for attack in attacks.ALL_ATTACKS:
        if wanted and attack.__name__ not in wanted:
            continue
        row = run(arguments.binary, attack, seconds, many)
        print(table_row(row), flush=True)
        if row["refused"]:
            print(f"<!-- refused: {row['refused']} -->", flush=True)
        failed += [f"{row['attack']}: {fault}" for fault in faults(row, arguments.long)]
    for fault in failed:
        print(f"FAILED: {fault}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
