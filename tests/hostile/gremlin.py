"""What hostile clients do with Gremlin, over HTTP and over WebSockets. As `attacks.py`."""

import itertools
import json
import struct
import time

from client import connect, once

#: What a refusal must name, or how a text that is none begins.
LIMITS = [
    b"server.max_traversal_rows",
    b"server.max_traversal_bytes",
    b"800000 results",
    b"Ranges may have",
    b"The text has",
    b"The traversal",
    b"nest",
    b"steps",
    b"bytes",
]
TEXT_BYTES_MAX = 1 << 20
#: Time in which requests must have ended whose clients are gone, in seconds; a query afterwards takes as much again.
CANCEL_S_MAX = 1.0
HANDSHAKE = (
    b"GET /gremlin HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
SOCKETS = 1000
#: More than one connection has in work at a time.
REQUESTS_OF_ONE = 70
REPEATS = [
    "g.V().repeat(both()).count()",
    "g.V('small0').repeat(both().simplePath()).emit().path()",
    "g.V('small0').repeat(out('near')).emit().dedup().repeat(out()).count()",
    "g.inject(1).repeat(identity()).count()",
    "while (true) { x = 1 }",
]
PRODUCTS = [
    "g.V().V().V().count()",
    "g.V().as('a').V().as('b').select('a', 'b')",
    "g.V().V().groupCount().by(id())",
    "g.V().V().path()",
    "g.V().V().values('text').fold()",
]
RESULTS = [
    "g.V().V().limit(100000000)",
    "g.V().V().id().toList()",
    "x = []; for (i in 0..100000000) { x << i }; x",
    "'x' * 100000000",
]
TEXTS = [
    "g.V()" + ".out()" * 10_001,
    "g.V()" + ".where(__.out()" * 10_000 + ")" * 10_000,
    "g.V().where(" + "__.not(" * 200 + "__.out()" + ")" * 200 + ")",
    "[" * 500_000,
    "x = '" + "y" * (TEXT_BYTES_MAX - 10) + "'",
    "x = '" + "y" * TEXT_BYTES_MAX + "'",
    "x = 1;" * 170_000,
    "1" + " + 1" * 250_000,
    "g.inject(" + "1," * 500_000 + "1)",
]
#: Both published exploits of CVE-2024-27348.
EXPLOITS = [
    'Thread thread = Thread.currentThread();Class clz = Class.forName("java.lang.Thread");'
    'java.lang.reflect.Field field = clz.getDeclaredField("name");field.setAccessible(true);field.set(thread, "SL7");'
    'Class processBuilderClass = Class.forName("java.lang.ProcessBuilder");'
    "java.lang.reflect.Constructor constructor = processBuilderClass.getConstructor(java.util.List.class);"
    'java.util.List command = java.util.Arrays.asList("touch", "/tmp/success");'
    "Object processBuilderInstance = constructor.newInstance(command);"
    'java.lang.reflect.Method startMethod = processBuilderClass.getMethod("start");startMethod.invoke(processBuilderInstance);',
    "def result = \"\";\ntry {\n  def thread = Thread.currentThread();\n  def clz = Class.forName('java.lang.Thread');\n"
    "  def field = clz.getDeclaredField('name');\n  field.setAccessible(true);\n  field.set(thread, 'task-worker-1');\n"
    "  def p = Class.forName('java.lang.Runtime').getMethod('getRuntime').invoke(null).exec('id');\n"
    "  result = p.getInputStream().getText();\n} catch (Exception e) {\n  result = e.toString();\n}\nreturn result;",
]


def attacks(together, again, complaints):
    """The attacks, with the helpers and the list of complaints of `attacks.py`."""

    def script(address, text):
        status, answer = once(address, "POST", "/gremlin", json.dumps({"gremlin": text}).encode())
        named = status != 400 or any(limit in answer for limit in LIMITS)
        if status not in (200, 400, 503) or not named:
            complaints.append(f"{text[:60]}: {status} {answer[:200]}")

    def of(texts, count):
        def attack(address, until, _):
            return together(count, again(until, lambda number: script(address, texts[number % len(texts)])))

        return attack

    gremlin_repeats, gremlin_products = of(REPEATS, 64), of(PRODUCTS, 64)
    gremlin_results, gremlin_texts = of(RESULTS, 32), of(TEXTS, 32)

    def gremlin_in_turn(address, until, _):
        """One query after the other, on all threads of the server: what one has freed must not stay."""
        texts = itertools.cycle(PRODUCTS[1:])
        return together(1, again(until, lambda _: script(address, next(texts))))

    def gremlin_exploits(address, until, _):
        def send(number):
            body = json.dumps({"gremlin": EXPLOITS[number % len(EXPLOITS)]}).encode()
            status, answer = once(address, "POST", "/gremlin", body)
            if status != 400 or b"classes of Java and Groovy" not in answer:
                complaints.append(f"not refused by the parser: {status} {answer[:200]}")
            time.sleep(0.05)

        return together(4, again(until, send))

    def gremlin_halves(address, until, _):
        """Sockets that send the beginning of a large message, and wait."""

        def half(number):
            with websocket(address) as connection:
                beginning = frame_head(9_000_000) + b"x" * (100 * (number % 50))
                connection.sendall(beginning[: 1 + number % len(beginning)])
                connection.settimeout(max(0.1, until - time.monotonic()))
                while connection.recv(65536):
                    pass

        return together(SOCKETS, half)

    def gremlin_gone(address, until, _):
        """Clients that ask for more than runs at a time, and go away; what they asked for must end."""

        def go(number):
            with websocket(address) as connection:
                for _ in range(REQUESTS_OF_ONE):
                    connection.sendall(message(REPEATS[0]))
                time.sleep(0.5)

        def rounds(_):
            while time.monotonic() < until:
                together(8, go)
                gone = time.monotonic()
                # With the pool full of what nobody waits for, this would wait for 30 s.
                status, _ = once(address, "POST", "/gremlin", json.dumps({"gremlin": "g.V().limit(2000).both().count()"}).encode())
                took = time.monotonic() - gone
                if status != 200 or took > 2 * CANCEL_S_MAX:
                    complaints.append(f"after clients have gone a query takes {took:.1f} s: {status}")

        together(1, rounds)
        return 8

    named = {
        "gremlin_repeats": gremlin_repeats,
        "gremlin_products": gremlin_products,
        "gremlin_results": gremlin_results,
        "gremlin_in_turn": gremlin_in_turn,
        "gremlin_texts": gremlin_texts,
        "gremlin_exploits": gremlin_exploits,
        "gremlin_halves": gremlin_halves,
        "gremlin_gone": gremlin_gone,
    }
    for name, attack in named.items():
        attack.__name__ = name
    return list(named.values())


def websocket(address):
    connection = connect(address)
    connection.sendall(HANDSHAKE)
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(4096)
        if not piece:
            raise ConnectionError("closed within the handshake")
        received += piece
    return connection


def frame_head(length):
    """The head of a masked binary frame, its mask all zero."""
    return bytes([0x82, 0x80 | 127]) + struct.pack(">Q", length) + bytes(4)


def message(text):
    """A request of a driver, in GraphSON."""
    arguments = {"gremlin": text, "language": "gremlin-lang"}
    request = {"requestId": "00000000-0000-4000-8000-000000000001", "op": "eval", "processor": "", "args": arguments}
    mime = b"application/json"
    body = bytes([len(mime)]) + mime + json.dumps(request).encode()
    return frame_head(len(body)) + body
