"""Gives one vertex of a Varve server very many edges, and tells how that goes.

supernode.py URL EDGES

Two writers send batches of 500. After each tenth of the edges it prints their number, the edges written a second in that tenth, and
how long the first page of 100 edges took: the median and the longest of 21 calls, in milliseconds, beside the writers standing still.
The graph has to be open.
"""

import http.client
import json
import statistics
import sys
import threading
import time
from urllib.parse import urlsplit

GRAPH = "/graphs/hugegraph"
VERTICES = 1000
EDGES_PER_REQUEST = 500
WRITERS = 2
STEPS = 10
PAGES = 21


class Server:
    """One connection to the server; a status that was not expected ends the run with the answer."""

    def __init__(self, url):
        self.connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body)
        self.connection.request(method, GRAPH + path, data, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:500]}")
        return json.loads(text) if text else None


def make_schema(server):
    server.call("POST", "/schema/propertykeys", {"name": "number", "data_type": "INT", "cardinality": "SINGLE"})
    server.call("POST", "/schema/vertexlabels", {"name": "thing", "id_strategy": "CUSTOMIZE_STRING", "properties": []})
    server.call("POST", "/schema/edgelabels", {
        "name": "touches", "source_label": "thing", "target_label": "thing", "frequency": "MULTIPLE",
        "properties": ["number"], "sort_keys": ["number"]})
    names = ["hub"] + [f"thing{n}" for n in range(VERTICES)]
    for at in range(0, len(names), 200):
        server.call("POST", "/graph/vertices/batch",
                    [{"id": name, "label": "thing", "properties": {}} for name in names[at:at + 200]])


def edge(number):
    return {"label": "touches", "outV": "hub", "outVLabel": "thing", "inV": f"thing{number % VERTICES}", "inVLabel": "thing",
            "properties": {"number": number}}


def write(url, numbers, failures):
    try:
        server = Server(url)
        for at in range(numbers.start, numbers.stop, EDGES_PER_REQUEST):
            batch = [edge(number) for number in range(at, min(at + EDGES_PER_REQUEST, numbers.stop))]
            written = server.call("POST", "/graph/edges/batch", batch)
            if len(written) != len(batch):
                raise RuntimeError(f"{len(written)} of {len(batch)} edges were written")
    except Exception as failure:  # told by the thread that waits
        failures.append(failure)


def grow(url, numbers):
    """Writes edges, and says how many a second."""
    part = -(-len(numbers) // WRITERS)
    failures = []
    started = time.monotonic()
    writers = [threading.Thread(target=write, args=(url, numbers[at:at + part], failures))
               for at in range(0, len(numbers), part)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    if failures:
        raise failures[0]
    return len(numbers) / (time.monotonic() - started)


def first_page(server):
    """How long the first 100 edges of the vertex take, in milliseconds."""
    started = time.monotonic()
    answer = server.call("GET", '/graph/edges?vertex_id=%22hub%22&direction=OUT&label=touches&page&limit=100')
    if len(answer["edges"]) != 100:
        raise RuntimeError(f"the first page has {len(answer['edges'])} edges, not 100")
    return (time.monotonic() - started) * 1000


def main():
    url, edges = sys.argv[1], int(sys.argv[2])
    server = Server(url)
    make_schema(server)
    print(f"{'edges':>10} {'a second':>9} {'first page, ms: median':>23} {'longest':>8}", flush=True)
    rates = []
    for step in range(STEPS):
        numbers = range(edges * step // STEPS, edges * (step + 1) // STEPS)
        rates.append(grow(url, numbers))
        pages = [first_page(server) for _ in range(PAGES)]
        print(f"{numbers.stop:>10} {rates[-1]:>9.0f} {statistics.median(pages):>23.1f} {max(pages):>8.1f}", flush=True)
    print(f"edges a second in the last three tenths against the first three: {sum(rates[-3:]) / sum(rates[:3]):.2f}")


main()
