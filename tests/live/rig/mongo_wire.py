# SPDX-License-Identifier: Apache-2.0
"""MongoDB's protocol as far as the tests need it: BSON of a few types, OP_MSG, and a client that asks one thing after the other."""
import socket
import struct

OP_MSG = 2013


class Int64(int):
    """That is written with eight bytes, however small."""


def _value(value):
    """Type and bytes."""
    if isinstance(value, bool):
        return 8, bytes([value])
    if isinstance(value, int):
        return (18, struct.pack("<q", value)) if isinstance(value, Int64) or not -2**31 <= value < 2**31 else (16, struct.pack("<i", value))
    if isinstance(value, float):
        return 1, struct.pack("<d", value)
    if value is None:
        return 10, b""
    if isinstance(value, str):
        return 2, struct.pack("<i", len(value.encode()) + 1) + value.encode() + b"\0"
    if isinstance(value, bytes):
        return 5, struct.pack("<ib", len(value), 0) + value
    if isinstance(value, dict):
        return 3, encode(value)
    if isinstance(value, list):
        return 4, encode({str(index): one for index, one in enumerate(value)})
    raise TypeError(type(value))


def encode(document):
    body = b""
    for key, value in document.items():
        kind, content = _value(value)
        body += bytes([kind]) + key.encode() + b"\0" + content
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def decode(data):
    """Types that are not known here become None."""
    document, at = {}, 4
    while data[at]:
        kind, end = data[at], data.index(b"\0", at + 1)
        key, at = data[at + 1:end].decode(), end + 1
        size = struct.unpack_from("<i", data, at)[0] if kind in (2, 3, 4, 5, 13) else 0
        fixed = {1: "<d", 8: "<?", 9: "<q", 16: "<i", 17: "<Q", 18: "<q"}.get(kind)
        if fixed:
            value = struct.unpack_from(fixed, data, at)[0]
            length = struct.calcsize(fixed)
        elif kind in (3, 4):
            value, length = decode(data[at:at + size]), size
            value = list(value.values()) if kind == 4 else value
        elif kind in (2, 13):
            value, length = data[at + 4:at + 3 + size].decode(), size + 4
        elif kind == 5:
            value, length = data[at + 5:at + 5 + size], size + 5
        elif kind == 11:  # two texts that end with NUL
            value, length = None, data.index(b"\0", data.index(b"\0", at) + 1) + 1 - at
        else:
            value, length = None, {7: 12, 19: 16}.get(kind, 0)
        document[key], at = value, at + length
    return document


def message(document, number=1, answered=0, flags=0):
    body = struct.pack("<IB", flags, 0) + encode(document)
    return struct.pack("<iiii", len(body) + 16, number, answered, OP_MSG) + body


def _exactly(connection, count):
    got = b""
    while len(got) < count:
        more = connection.recv(count - len(got))
        if not more:
            raise ConnectionError("the end")
        got += more
    return got


def receive(connection):
    """Number and document of the next message; ConnectionError at the end."""
    length, number, _, kind = struct.unpack("<iiii", _exactly(connection, 16))
    body = _exactly(connection, length - 16)
    assert kind == OP_MSG and body[4] == 0, "only OP_MSG with one document"
    return number, decode(body[5:])


def do(port, command, database="shop", tls=None):
    """A command to a server on loopback; its answer, which must be good."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as plain, (tls.wrap_socket(plain, server_hostname="localhost") if tls else plain) as connection:
        connection.sendall(message({**command, "$db": database}))
        answer = receive(connection)[1]
    assert answer.get("ok") == 1, answer
    return answer
