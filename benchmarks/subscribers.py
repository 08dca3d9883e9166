"""Subscribers of a WebSocket channel, as one process without an event loop.

They take text messages of one known size that begin with ``number time``: 8 digits, and
the nanoseconds of the monotonic clock when it was published in 20. `receive` checks
that nothing is lost, doubled or out of order.
"""

from __future__ import annotations

import base64
import os
import selectors
import socket
import time
from collections.abc import Iterator, Sequence

import attrs

CONNECT_TIMEOUT = 10.0
CLOSE, PING, PONG = 0x88, 0x89, 0x8A


@attrs.frozen
class Stream:
    """``count`` messages of ``size`` bytes, ``rate`` a second or as fast as they come (0)."""

    count: int
    size: int
    rate: float = 0.0

    @property
    def frame(self) -> int:
        """Bytes of one message with its header, unmasked as servers send it."""
        return self.size + (2 if self.size < 126 else 4)

    @property
    def total(self) -> int:
        """Bytes of all messages."""
        return self.count * self.frame


@attrs.frozen
class Received:
    """What all subscribers got."""

    ended: float
    """When the last byte came (`time.monotonic`)."""

    least: int
    """Messages that the subscriber with the fewest got; ``count`` when all is well."""

    closed: list[int]
    """Codes of those whom the server closed; 0 where it gave none."""

    lateness: list[float]
    """Milliseconds from publishing to arrival, of every message of every subscriber."""


class WrongMessages(Exception):
    """A subscriber got something else than was published, or in another order."""


def subscribe(port: int, path: str, *, receive_buffer: int | None = None) -> socket.socket:
    """Open a WebSocket and return its socket."""
    client = socket.socket()
    if receive_buffer is not None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    client.settimeout(CONNECT_TIMEOUT)
    client.connect(("127.0.0.1", port))
    key = base64.b64encode(os.urandom(16)).decode()
    client.sendall(
        f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nupgrade: websocket\r\n"
        "connection: upgrade\r\nsec-websocket-version: 13\r\n"
        f"sec-websocket-key: {key}\r\n\r\n".encode()
    )
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = client.recv(1)
        if not byte:
            break
        head += byte
    if not head.startswith(b"HTTP/1.1 101"):
        raise WrongMessages(f"{path}: no WebSocket: {head[:200]!r}")
    return client


def close_code(client: socket.socket, *, patience: float) -> int | None:
    """Read what waits for a client that has not read so far; return the code at its end.

    None when the server does not close it; 0 when it does without a code.
    """
    client.settimeout(patience)
    last = bytearray()
    try:
        while data := client.recv(1 << 16):
            last = (last + data)[-200:]
    except TimeoutError:
        return None
    except OSError:
        return 0
    return _take_close(last)


def receive(stream: Stream, clients: Sequence[socket.socket], *, patience: float) -> Received:
    """Read until every client has everything, or nothing has come for ``patience`` seconds.

    Raises WrongMessages.
    """
    got = [bytearray() for _ in clients]
    arrivals: list[list[tuple[int, int]]] = [[] for _ in clients]
    closed: list[int] = []
    with selectors.DefaultSelector() as selector:
        for index, client in enumerate(clients):
            client.setblocking(False)
            selector.register(client, selectors.EVENT_READ, index)
        while selector.get_map():
            ready = selector.select(patience)
            if not ready:
                break
            for key, _ in ready:
                index = key.data
                data = clients[index].recv(1 << 18)
                got[index] += data
                _answer_pings(clients[index], got[index], len(data))
                arrivals[index].append((time.monotonic_ns(), len(got[index])))
                if not data:
                    closed.append(_take_close(got[index]))
                if not data or len(got[index]) >= stream.total:
                    selector.unregister(clients[index])
    ended = max((times[-1][0] for times in arrivals if times), default=time.monotonic_ns())
    longest = max(got, key=len)
    sent = _check(stream, longest)
    if not all(longest.startswith(one) for one in got):
        raise WrongMessages("subscribers got different messages")
    return Received(
        ended=ended / 1e9,
        least=min(map(len, got)) // stream.frame,
        closed=closed,
        lateness=[delay for times in arrivals for delay in _lateness(stream, sent, times)],
    )


def _answer_pings(client: socket.socket, got: bytearray, added: int) -> None:
    """Take pings out of what was received and answer them; messages are ASCII."""
    start = max(0, len(got) - added - 6)
    while (at := got.find(PING, start)) >= 0:
        end = at + 2 + (got[at + 1] if at + 1 < len(got) else 125)
        if end > len(got):
            return  # the rest of it comes later
        payload = got[at + 2 : end]
        client.send(bytes((PONG, 0x80 | len(payload))) + bytes(4) + payload)  # a mask of zeros
        del got[at:end]
        start = at


def _take_close(got: bytearray) -> int:
    """Take the close frame off the end of what was received and return its code."""
    at = got.rfind(CLOSE)
    if at < 0:
        return 0
    code = int.from_bytes(got[at + 2 : at + 4], "big")
    del got[at:]
    return code


def _check(stream: Stream, data: bytearray) -> list[int]:
    """Return when each message was published."""
    sent = []
    for number in range(len(data) // stream.frame):
        start = (number + 1) * stream.frame - stream.size
        if int(data[start : start + 8]) != number:
            raise WrongMessages(f"message {number} was lost, doubled or out of order")
        sent.append(int(data[start + 9 : start + 29]))
    return sent


def _lateness(
    stream: Stream, sent: Sequence[int], arrivals: Sequence[tuple[int, int]]
) -> Iterator[float]:
    number = 0
    for at, total in arrivals:
        while (number + 1) * stream.frame <= total:
            yield (at - sent[number]) / 1e6
            number += 1
