#!/usr/bin/env python3
"""What keeping changes costs writes: CPU time of two servers, one with `graph.changes=all`, one without.

Both get the same requests in turn (A B B A …), so that what else the machine does meets both alike.
Prints the CPU time of each kind of write on both, and the difference in percent with the 95 % interval
of its mean over the rounds. CPU time is that of all threads of the server, in nanoseconds
(`/proc/PID/task/*/schedstat`), those of the storage engine included.

    tests/changes/cost.py target/release/varve [ROUNDS]
"""

import http.client
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

BATCH = 500  # elements of a batch
BATCHES = 20  # batches of one round and kind
SINGLES = 200  # single inserts of one round


class Server:
    def __init__(self, varve, folder, changes):
        command = [varve, "serve", "--data-dir", folder, "--listen", "127.0.0.1:0", "--durability", "interval:100"]
        command += ["--set", f"graph.changes={changes}"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        address = self.process.stdout.readline().split(" serves on http://")[1].strip()
        self.connection = http.client.HTTPConnection(address)
        for kind, body in (
            ("propertykeys", {"name": "name", "data_type": "TEXT"}),
            ("propertykeys", {"name": "age", "data_type": "INT"}),
            ("vertexlabels", {"name": "person", "id_strategy": "CUSTOMIZE_NUMBER", "properties": ["name", "age"]}),
            ("edgelabels", {"name": "knows", "source_label": "person", "target_label": "person", "properties": ["age"]}),
        ):
            self.post(f"schema/{kind}", body)

    def post(self, path, body):
        text = json.dumps(body)
        self.connection.request("POST", f"/graphs/hugegraph/{path}", text, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        said = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"{path}: {answer.status} {said[:200]}")

    def cpu(self):
        folder = f"/proc/{self.process.pid}/task"
        total = 0
        for thread in os.listdir(folder):
            try:
                with open(f"{folder}/{thread}/schedstat") as file:
                    total += int(file.read().split()[0])
            except FileNotFoundError:
                pass  # a thread that has just ended
        return total

    def stop(self):
        self.process.terminate()
        self.process.wait()


def vertex(number):
    return {"label": "person", "id": number, "properties": {"name": f"person number {number}", "age": number % 90}}


def edge(number, count):
    source, target = number % count, (number * 7919 + number // count) % count
    return {"label": "knows", "outV": source, "inV": target, "outVLabel": "person", "inVLabel": "person",
            "properties": {"age": number % 90}}


def work(kind, begin):
    """The requests of one round, and the first number of the next."""
    if kind == "vertices, batches":
        end = begin + BATCH * BATCHES
        numbers = range(begin, end, BATCH)
        return [("graph/vertices/batch", [vertex(n) for n in range(at, at + BATCH)]) for at in numbers], end
    if kind == "edges, batches":
        count = BATCH * BATCHES
        numbers = range(begin, begin + count, BATCH)
        return [("graph/edges/batch", [edge(n, count) for n in range(at, at + BATCH)]) for at in numbers], begin + count
    end = begin + SINGLES
    return [("graph/vertices", vertex(10**12 + n)) for n in range(begin, end)], end


def main():
    varve, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 30
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        servers = [Server(varve, one, "off"), Server(varve, other, "all")]
        kinds = ("vertices, batches", "edges, batches", "vertices, one by one")
        spent, next_number = {kind: ([], []) for kind in kinds}, dict.fromkeys(kinds, 0)
        try:
            for number in range(-2, rounds):
                for kind in kinds:
                    requests, next_number[kind] = work(kind, next_number[kind])
                    for at in (0, 1) if number % 2 else (1, 0):
                        server = servers[at]
                        before = server.cpu()
                        for path, body in requests:
                            server.post(path, body)
                        if number >= 0:
                            spent[kind][at].append((server.cpu() - before) / len(requests) / 1000)
        finally:
            for server in servers:
                server.stop()
    for kind in kinds:
        off, on = spent[kind]
        # Of the logarithm of each pair's quotient: one round that something disturbs counts little.
        logs = [math.log(b / a) for a, b in zip(off, on)]
        middle, error = statistics.mean(logs), 1.96 * statistics.stdev(logs) / math.sqrt(len(logs))
        percent = [100 * (math.exp(value) - 1) for value in (middle, middle - error, middle + error)]
        print(f"{kind}: {statistics.median(off):.0f} µs of CPU a request without changes, "
              f"{statistics.median(on):.0f} with: {percent[0]:+.1f} % ({percent[1]:+.1f} … {percent[2]:+.1f})")


if __name__ == "__main__":
    main()
