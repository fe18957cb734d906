"""What hostile clients do. Each attack gets the server's address and a deadline, and returns how many clients it was."""

import functools
import gzip
import json
import socket
import threading
import time

import explorer
import gremlin
from client import connect, frame, head, http2, http2_headers, literal, once, request

MIB = 1 << 20
GRAPH = "/graphs/hugegraph"
VERTICES = f"{GRAPH}/graph/vertices"
#: Answers nearly as large as the limit.
ALL = f"{VERTICES}?label=blob&limit=-1"
GZIP = "Content-Encoding: gzip\r\n"


def together(count, work):
    """Runs `work(number)` so many times at once."""

    def quietly(number):
        try:
            work(number)
        except OSError:
            pass  # the server may cut whom it does not like

    threads = [threading.Thread(target=quietly, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return count


def again(until, work):
    """Repeats `work` until a time; for `together`."""

    def repeated(number):
        while time.monotonic() < until:
            try:
                work(number)
            except OSError:
                time.sleep(0.05)

    return repeated


@functools.cache
def packed_batch(size):
    """A batch of one vertex whose text compresses to a thousandth."""
    text = b"a" * size
    return gzip.compress(b'[{"label":"blob","id":"packed","properties":{"text":"' + text + b'"}}]', 9)


def gzip_batches(address, until, many):
    body = packed_batch(63 * MIB)
    return together(many, lambda _: once(address, "POST", f"{VERTICES}/batch", body, GZIP))


def gzip_inflaters(address, until, many):
    body = packed_batch(9 * MIB)
    send = again(until, lambda _: once(address, "POST", f"{VERTICES}/batch", body, GZIP))
    return together(min(many, 16), send)


@functools.cache
def lists():
    """A variable and a batch that are lists of millions of numbers."""
    items = gzip.compress(b'{"data":[' + b"1," * (5 * MIB - 8) + b"1]}", 9)
    start = b'[{"label":"blob","id":"list","properties":{"numbers":['
    return items, gzip.compress(start + b"1," * (31 * MIB) + b"1]}}]", 9)


def many_values(address, until, many):
    items, batch = lists()

    def send(number):
        if number % 2:
            once(address, "PUT", f"{GRAPH}/variables/list", items, GZIP)
        else:
            once(address, "POST", f"{VERTICES}/batch", batch, GZIP)

    return together(min(many, 40), again(until, send))


def large_bodies(address, until, many):
    """Bodies of 60 MiB that stop before their end."""

    def send(_):
        with connect(address) as connection:
            connection.sendall(head("POST", f"{VERTICES}/batch", 60 * MIB))
            piece = b"[" + b" " * MIB
            for _ in range(59):
                connection.sendall(piece)
            time.sleep(max(0.0, min(8.0, until - time.monotonic())))

    return together(min(many, 100), send)


def zero_window(address, until, many):
    """One connection of HTTP/2 that asks for large answers and takes none."""
    with http2(address, [(4, 0)]) as connection:
        for number in range(min(many, 100)):
            connection.sendall(http2_headers(2 * number + 1, b"GET", ALL.encode(), True))
            time.sleep(0.02)
        connection.settimeout(0.5)
        while time.monotonic() < until:
            try:
                if not connection.recv(65536):
                    break
            except TimeoutError:
                pass
            except OSError:
                break
    return 1


def slow_readers(address, until, many):
    """Clients that ask for large answers and take a kilobyte a second."""

    def read(_):
        with connect(address) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(head("GET", ALL))
            while time.monotonic() < until and connection.recv(1024):
                time.sleep(1)

    return together(min(many, 150), read)


def large_variables(address, until, many):
    value = b'{"data":"' + b"v" * (9 * MIB) + b'"}'
    for number in range(20):
        once(address, "PUT", f"{GRAPH}/variables/large{number}", value)
    return together(min(many, 30), again(until, lambda _: once(address, "GET", f"{GRAPH}/variables")))


def long_heads(address, until, many):
    """Heads of 60 KiB that do not end."""

    def send(_):
        with connect(address) as connection:
            connection.sendall(b"GET /versions HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 60_000)
            time.sleep(max(0.0, min(8.0, until - time.monotonic())))

    return together(2 * many, send)


def http2_bodies(address, until, many):
    """Connections of HTTP/2 with as many open requests as they may have, each with a large head and half a body."""

    def send(_):
        with http2(address, []) as connection:
            more = literal(b"content-type", b"application/json") + b"".join(
                literal(b"x-%d" % number, b"x" * 120) for number in range(80)
            )
            for number in range(100):
                stream = 2 * number + 1
                connection.sendall(http2_headers(stream, b"POST", f"{VERTICES}/batch".encode(), False, more))
                connection.sendall(frame(0, 0, stream, b"[" + b" " * 2000))
            time.sleep(max(0.0, min(8.0, until - time.monotonic())))

    return together(min(many, 100), send)


def deep_pages(address, until, many):
    """Pages so far behind that everything before must be looked at."""
    path = f"{VERTICES}?label=small&offset=100000000&limit=10"
    return together(8, again(until, lambda _: once(address, "GET", path)))


def large_listings(address, until, many):
    """Clients that read large answers as fast as they can."""
    return together(16, again(until, lambda _: once(address, "GET", ALL)))


#: Questions about the web of `small` vertices, all of it within three hops, without limits of their own.
ALL_OF_IT = "max_depth=5000&max_degree=-1&capacity=-1&limit=-1"
ENDS = "source=%22small0%22&target=%22small1%22"
STEP = {"direction": "OUT", "max_degree": -1}
SOURCES = {"sources": {"ids": ["small0"]}, "capacity": -1, "limit": -1}
QUESTIONS = [
    (f"paths?{ENDS}&{ALL_OF_IT}", None),
    (f"rings?source=%22small0%22&{ALL_OF_IT}", None),
    (f"rays?source=%22small0%22&{ALL_OF_IT}", None),
    (f"crosspoints?{ENDS}&{ALL_OF_IT}", None),
    (f"kout?source=%22small0%22&nearest=false&{ALL_OF_IT}", None),
    ("kneighbor?source=%22small0%22&max_depth=5000&max_degree=-1&limit=-1", None),
    ("kneighbor?source=%22small0%22&max_depth=3", None),
    (f"allshortestpaths?{ENDS}&max_depth=5000&max_degree=-1&capacity=-1", None),
    ("singlesourceshortestpath?source=%22small0%22&capacity=-1&limit=-1", None),
    ("customizedpaths", {**SOURCES, "steps": [{**STEP, "sample": -1}] * 12}),
    ("templatepaths", {**SOURCES, "targets": {"ids": ["small1"]}, "with_ring": True, "steps": [{**STEP, "max_times": 5000}]}),
    ("customizedcrosspoints", {**SOURCES, "path_patterns": [{"steps": [STEP] * 12}]}),
    ("paths", {**SOURCES, "targets": {"ids": ["small1"]}, "step": STEP, "max_depth": 5000}),
    ("fusiformsimilarity", {"sources": {"label": "small"}, "min_neighbors": 1, "alpha": 0.01, "capacity": -1, "limit": -1}),
    ("neighborrank", {"source": "small0", "steps": [STEP] * 12, "alpha": 1, "capacity": -1}),
    ("count", {"source": "small0", "steps": [{"direction": "OUT"}] * 12, "dedup_size": 0}),
]
#: What a refusal must name.
LIMITS = [b"capacity", b"server.max_traversal_rows", b"server.max_traversal_bytes", b"server.max_answer_bytes"]
#: Answers to the attack that is running that are no answers.
complaints = []


def traversals(address, until, many):
    """64 clients that ask for the whole graph, as deep as it goes, and all at once."""

    def ask(number):
        name, body = QUESTIONS[number % len(QUESTIONS)]
        method = "POST" if body else "GET"
        status, answer = once(address, method, f"{GRAPH}/traversers/{name}", body and json.dumps(body).encode())
        if status not in (200, 400, 503) or (status == 400 and not any(limit in answer for limit in LIMITS)):
            complaints.append(f"{name}: {status} {answer[:200]}")

    return together(64, again(until, ask))


def prepare():
    """Makes the bodies that take long to make, so that no attack's time goes into that."""
    packed_batch(63 * MIB)
    packed_batch(9 * MIB)
    lists()


GREMLIN = gremlin.attacks(together, again, complaints)
EXPLORER = explorer.attacks(together, again, complaints)
#: The attacks by name.
ALL_ATTACKS = [
    gzip_batches,
    gzip_inflaters,
    many_values,
    large_bodies,
    zero_window,
    slow_readers,
    large_variables,
    long_heads,
    http2_bodies,
    deep_pages,
    large_listings,
    traversals,
    *GREMLIN,
    *EXPLORER,
]

