"""Asks a server the questions of questions.cypher: the median time of each, in milliseconds, and its answer.

    ask.py [--server http://127.0.0.1:8080] [--bolt bolt://127.0.0.1:7687] [--graph hugegraph] [--times 5] [--pid PID] [number …]

Each is asked once before it is measured. With `--bolt` over Bolt, of Varve or of Neo4j (needs the package
`neo4j`). With `--pid` also the processor time of that process, the server. The data: `data.py` writes it, and
`varve load mapping.toml --schema schema.json` in its folder loads it.
"""

import argparse
import json
import os
import statistics
import time
import urllib.request


def questions():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "questions.cypher")
    with open(path) as file:
        return [line for line in file.read().splitlines() if line and not line.startswith("//")]


def used(pid):
    """The processor time of a process, in milliseconds."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def ask(given, statement):
    url = f"{given.server}/db/{given.graph}/query/v2"
    body = json.dumps({"statement": statement}).encode()
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["data"]["values"]


def asked_over_bolt(given):
    """A function that asks over one connection."""
    import neo4j
    session = neo4j.GraphDatabase.driver(given.bolt).session(database=given.graph)
    return lambda statement: session.run(statement).values()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("numbers", type=int, nargs="*")
    parser.add_argument("--server", default="http://127.0.0.1:8080")
    parser.add_argument("--bolt")
    parser.add_argument("--graph", default="hugegraph")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--pid", type=int)
    given = parser.parse_args()
    answer = asked_over_bolt(given) if given.bolt else lambda statement: ask(given, statement)
    for number, statement in enumerate(questions(), 1):
        if given.numbers and number not in given.numbers:
            continue
        answer(statement)
        times, processor = [], []
        for _ in range(given.times):
            before, began = used(given.pid) if given.pid else 0, time.monotonic()
            values = answer(statement)
            times.append((time.monotonic() - began) * 1000)
            processor.append(used(given.pid) - before if given.pid else 0)
        cpu = f", {statistics.median(processor):.0f} ms of processor" if given.pid else ""
        print(f"{number}: {statistics.median(times):.0f} ms{cpu}: {values}")


if __name__ == "__main__":
    main()
