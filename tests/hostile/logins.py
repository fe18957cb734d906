"""Wrong logins by the thousand: how long others wait, and what the server spends.

    logins.py BINARY [--seconds N] [--rounds N] [--rate N]

By turns: nobody, as many harmless requests (`GET /versions`) as then wrong passwords, wrong passwords from one address,
wrong passwords from many addresses with names that differ. The attacker is a process of its own. Meanwhile others
read a vertex with a token, one read after the other. The median over the rounds of their median time under attack may
be twice that of a quiet server.
"""

import argparse
import asyncio
import json
import multiprocessing
import pathlib
import re
import statistics
import sys
import time

from client import connect, head, once, request
from suite import Server

#: Others may wait so many times as long as on a quiet server.
SLOWER_MAX = 2
#: Connections of the attacker, each from an address of its own in the last kind of attack.
CONNECTIONS = 400
PASSWORD = "correct horse"
VERTEX = "/graphs/hugegraph/graph/vertices/%22a%22"
KINDS = ["quiet", "harmless", "one address", "many addresses"]


async def ask(reader, writer, message):
    """Sends a request; the status of its answer."""
    writer.write(message)
    top = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: *(\d+)", top)
    await reader.readexactly(int(length[1]) if length else 0)
    return int(top[9:12])


async def attack(address, kind, rate, seconds):
    """Sends so many requests a second, as far as connections are free; how many of each status were answered."""
    statuses, number, until = {}, 0, time.monotonic() + seconds
    free = asyncio.Queue()
    for k in range(CONNECTIONS):
        own = (f"127.1.{k // 250}.{k % 250 + 1}", 0) if kind == "many addresses" else None
        free.put_nowait(await asyncio.open_connection(*address, local_addr=own))

    async def one(number):
        streams = await free.get()
        if kind == "harmless":
            message = head("GET", "/versions")
        else:
            name = f"user{number}" if kind == "many addresses" else "admin"
            body = json.dumps({"user_name": name, "user_password": "a wrong one"}).encode()
            message = head("POST", "/auth/login", len(body)) + body
        try:
            status = await ask(*streams, message)
        except (OSError, EOFError):
            status = 0
        else:
            free.put_nowait(streams)
        statuses[status] = statuses.get(status, 0) + 1

    works, began = set(), time.monotonic()
    while time.monotonic() < until:
        due = int((time.monotonic() - began) * rate)
        for _ in range(due - number if len(works) < CONNECTIONS else 0):
            work = asyncio.ensure_future(one(number))
            works.add(work)
            work.add_done_callback(works.discard)
            number += 1
        number = max(number, due)
        await asyncio.sleep(0.002)
    for work in works:
        work.cancel()
    return statuses


def attacker(address, kind, rate, seconds, results):
    results.put(asyncio.run(attack(address, kind, rate, seconds)))


def read(address, header, seconds):
    """Reads the vertex again and again; the durations in seconds."""
    took, until = [], time.monotonic() + seconds
    with connect(address) as connection:
        while time.monotonic() < until:
            began = time.monotonic()
            status, answer = request(connection, "GET", VERTEX, headers=header)
            took.append(time.monotonic() - began)
            if status != 200:
                sys.exit(f"a read was answered {status}: {answer[:200]}")
    return took


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def turn(server, header, kind, rate, seconds):
    results = multiprocessing.Queue()
    attacking = None
    if kind != "quiet":
        arguments = (server.address, kind, rate, seconds + 2, results)
        attacking = multiprocessing.Process(target=attacker, args=arguments)
        attacking.start()
        time.sleep(1)
    spent = cpu_seconds(server.process)
    took = read(server.address, header, seconds)
    spent = (cpu_seconds(server.process) - spent) / seconds
    statuses = results.get(timeout=60) if attacking else {}
    if attacking:
        attacking.join()
    took.sort()
    return {"median": statistics.median(took), "p99": took[len(took) * 99 // 100], "cpu": spent, "statuses": statuses}


def prepare(server):
    """A vertex to read; the header of who reads it."""
    login = json.dumps({"user_name": "admin", "user_password": PASSWORD}).encode()
    status, answer = once(server.address, "POST", "/auth/login", login)
    if status != 200:
        sys.exit(f"no login: {status} {answer}")
    header = f"Authorization: Bearer {json.loads(answer)['token']}\r\n"
    label = {"name": "small", "id_strategy": "CUSTOMIZE_STRING"}
    for path, body in [("schema/vertexlabels", label), ("graph/vertices", {"label": "small", "id": "a", "properties": {}})]:
        status, answer = once(server.address, "POST", f"/graphs/hugegraph/{path}", json.dumps(body).encode(), header)
        if status != 201:
            sys.exit(f"{path}: {status} {answer}")
    return header


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=4, help="of each turn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=int, default=1000, help="requests of the attacker a second")
    arguments = parser.parse_args()
    server = Server(arguments.binary, ["--set", "auth.enabled=true"], {"VARVE_ADMIN_PASSWORD": PASSWORD})
    try:
        header = prepare(server)
        read(server.address, header, 1)
        turns = {kind: [] for kind in KINDS}
        for _ in range(arguments.rounds):
            for kind in KINDS:
                turns[kind].append(turn(server, header, kind, arguments.rate, arguments.seconds))
    finally:
        server.stop()
    print("\n| attacker | median ms of a read | times quiet | p99 ms | cores of the server | answers a second, by status |")
    print("|---|---|---|---|---|---|")
    quiet, failed = None, []
    for kind, each in turns.items():
        median, p99, cpu = (statistics.median(one[name] for one in each) for name in ["median", "p99", "cpu"])
        quiet = quiet or median
        counts = {}
        for one in each:
            for status, count in one["statuses"].items():
                counts[status] = counts.get(status, 0) + count
        a_second = arguments.rounds * (arguments.seconds + 2)
        shown = ", ".join(f"{status}: {count / a_second:.0f}" for status, count in sorted(counts.items())) or "-"
        print(f"| {kind} | {1000 * median:.3f} | {median / quiet:.2f} | {1000 * p99:.2f} | {cpu:.2f} | {shown} |")
        if median > SLOWER_MAX * quiet and kind != "harmless":
            failed.append(f"{kind}: a read takes {median / quiet:.2f} times as long")
    for fault in failed:
        print(f"FAILED: {fault}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
