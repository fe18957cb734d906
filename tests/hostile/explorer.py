"""What hostile clients do with the requests of the explorer. As `attacks.py`."""

import json
import socket
import time

from client import connect, head, once

GRAPH = "/graphs/hugegraph"
EXPLORE = f"{GRAPH}/explore"
#: What a refusal must name.
LIMITS = [b"explore.", b"server.max_traversal_rows", b"server.max_traversal_bytes", b"server.max_answer_bytes"]
BLOBS = [f'"blob{n}"' for n in range(1000)]
SMALL = [f'"small{n}"' for n in range(5000)]
#: Questions whose answers are as large as they may be, or that look at as much as they may.
QUESTIONS = [
    ("elements", {"vertices": BLOBS, "edges": [], "between": True}),
    ("elements", {"vertices": SMALL[:2000], "edges": [], "between": True}),
    ("diff", {"a": {"as_of": "2000-01-01"}, "b": {}, "scope": {"label": "blob"}}),
    ("diff", {"a": {"as_of": "2000-01-01"}, "b": {}, "scope": {"vertices": BLOBS, "between": True}}),
    ("diff", {"a": {"as_of": "2000-01-01"}, "b": {}, "scope": {"label": "near"}}),
    ("timeline", {"vertices": BLOBS, "edges": [], "between": True, "buckets": 2000}),
    ("timeline", {"vertices": SMALL, "edges": [], "between": True, "buckets": 2000}),
    ("expand", {"ids": SMALL[:100], "direction": "BOTH", "limit": 1000, "per_label": 1000, "counts": True}),
    ("search?q=b&limit=200", None),
    ("search?q=blob7", None),
    ("sample?limit=1000&between=true", None),
    ("sample?label=blob&limit=1000&seed=7", None),
    ("summary", None),
]


def attacks(together, again, complaints):
    """The attacks, with the helpers and the list of complaints of `attacks.py`."""

    def explorer(address, until, _):
        """64 clients that ask for as much as one request of the explorer may show."""

        def ask(number):
            name, body = QUESTIONS[number % len(QUESTIONS)]
            method = "POST" if body else "GET"
            status, answer = once(address, method, f"{EXPLORE}/{name}", body and json.dumps(body).encode())
            named = status != 400 or any(limit in answer for limit in LIMITS)
            if status not in (200, 400, 503) or not named:
                complaints.append(f"{name}: {status} {answer[:200]}")

        return together(64, again(until, ask))

    def slow_exports(address, until, many):
        """Clients that begin exports and take a kilobyte a second; more of them than may run."""

        def read(number):
            form = ["csv", "jsonl", "graphml", "gexf"][number % 4]
            path = f"{EXPLORE}/export?format={form}&elements=vertices&label=blob"
            with connect(address) as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                connection.sendall(head("GET", path))
                while time.monotonic() < until and connection.recv(1024):
                    time.sleep(1)

        return together(min(many, 64), read)

    return [explorer, slow_exports]
