"""HTTP by hand: requests as bytes, answers read as far as a test wants, and the few frames of HTTP/2 that attacks need."""

import socket
import struct
import time

TIMEOUT_S = 60
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def connect(address):
    connection = socket.create_connection(address, timeout=TIMEOUT_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def connect_patiently(address, tries=50):
    """A connection, tried again while the server turns connections away."""
    for _ in range(tries):
        try:
            return connect(address)
        except OSError:
            time.sleep(0.1)
    return connect(address)


def head(method, path, length=None, headers=""):
    length = "" if length is None else f"Content-Type: application/json\r\nContent-Length: {length}\r\n"
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{length}{headers}\r\n".encode()


def request(connection, method, path, body=None, headers=""):
    """Sends a request and reads its answer: status and body."""
    connection.sendall(head(method, path, None if body is None else len(body), headers) + (body or b""))
    return answer(connection)


def answer(connection):
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65536)
        if not piece:
            raise ConnectionError("closed within a head")
        received += piece
    top, body = received.split(b"\r\n\r\n", 1)
    length = 0
    for line in top.split(b"\r\n")[1:]:
        name, value = line.split(b":", 1)
        if name.lower() == b"content-length":
            length = int(value)
    pieces, count = [body], len(body)
    while count < length:
        piece = connection.recv(1 << 20)
        if not piece:
            raise ConnectionError("closed within a body")
        pieces.append(piece)
        count += len(piece)
    return int(top[9:12]), b"".join(pieces)


def once(address, method, path, body=None, headers=""):
    with connect(address) as connection:
        return request(connection, method, path, body, headers)


def timed(address, method, path, make_body, until, at_least):
    """Sends requests one after another until a time; their durations in seconds and the statuses that were not 2xx."""
    took, refused, number = [], {}, 0
    connection = connect_patiently(address)
    while time.monotonic() < until or len(took) < at_least:
        body = make_body(number) if make_body else None
        number += 1
        start = time.monotonic()
        try:
            status, _ = request(connection, method, path, body)
        except OSError:
            status, connection = 0, connect_patiently(address)
        if 200 <= status < 300:
            took.append(time.monotonic() - start)
        else:
            refused[status] = refused.get(status, 0) + 1
            time.sleep(0.02)
        if sum(refused.values()) > 2000:
            break
    connection.close()
    return took, refused


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    """A header field that needs no table, for names and values below 127 bytes."""
    return bytes([0, len(name)]) + name + bytes([len(value)]) + value


def http2(address, settings):
    """A connection with these settings (number, value)."""
    connection = connect(address)
    payload = b"".join(struct.pack(">HI", number, value) for number, value in settings)
    connection.sendall(PREFACE + frame(4, 0, 0, payload))
    return connection


def http2_headers(stream, method, path, end, more=b""):
    # :scheme http, :authority localhost.
    block = b"\x86" + literal(b":method", method) + literal(b":path", path) + literal(b":authority", b"localhost")
    return frame(1, 0x04 | (0x01 if end else 0), stream, block + more)
