"""Bytes that are almost what a client sends: well-formed samples, damaged at random.

Also a tool: ``python -m tests.http1.mutations --seconds 600`` sends them to a server
of its own in this process, and fails on what the tests fail on.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import trio

from fxtrio.server.http1 import ServerLimits

from .frames import BINARY, CONT, PING, TEXT, close_frame, frame, upgrade
from .support import Server, open_server

HTTP = [
    b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /a%20b/%C3%A4?c=d&e HTTP/1.1\r\nHost: a:80\r\nCookie: x=y; z\r\nAccept: */*\r\n\r\n",
    b"HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5;x=y\r\nhello\r\n3\r\nabc\r\n0\r\nTrailer: t\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: [::1]\r\n\r\n",
    b"GET http://a/b?c HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"
    b"Content-Length: 5\r\n\r\nhello",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00",
]
FRAMES = [
    frame(TEXT, b"hello"),
    frame(TEXT, "κόσμε".encode(), fin=False) + frame(PING, b"p") + frame(CONT, b"x"),
    frame(BINARY, bytes(range(256)) * 20),
    frame(BINARY, b""),
    frame(TEXT, b"\x2a\x4e\x4c\x04\x00", rsv=4),
    close_frame(1000, b"bye"),
]
AWKWARD = [
    b"\r\n", b"\n", b"\r", b"\0", b" ", b"\t", b":", b",", b";", b"%", b"#", b"\xff", b"\x80",
    b"0", b"-1", b"99999999999999999999", b"chunked", b"Content-Length: 3\r\n",
    b"Transfer-Encoding: chunked\r\n", b"Host: b\r\n", b"Connection: close\r\n",
    b"Upgrade: websocket\r\nConnection: Upgrade\r\n", b"0\r\n\r\n", b"A" * 70_000,
]  # fmt: skip


def damaged(dice: random.Random) -> bytes:
    """Return some samples after another, with a few things wrong."""
    samples = HTTP
    data = b""
    if dice.random() < 0.35:
        offer = b"Sec-WebSocket-Extensions: permessage-deflate"
        data = upgrade(b"/", offer) if dice.random() < 0.7 else upgrade()
        samples = FRAMES
    data += b"".join(dice.choices(samples, k=dice.randint(1, 4)))
    for _ in range(dice.choice([0, 1, 1, 2, 5])):
        data = damage(data, dice, AWKWARD)
    return data


def damage(data: bytes, dice: random.Random, tokens: Sequence[bytes]) -> bytes:
    """Return ``data`` with one thing wrong; ``tokens`` are what is put into it."""
    at = dice.randrange(len(data) + 1)
    other = dice.randrange(len(data) + 1)
    match dice.randrange(6):
        case 0:  # flip a bit
            byte = data[at : at + 1] or b"x"
            return data[:at] + bytes([byte[0] ^ 1 << dice.randrange(8)]) + data[at + 1 :]
        case 1:  # insert
            return data[:at] + dice.choice(tokens) + data[at:]
        case 2:  # remove
            return data[:at] + data[at + dice.randint(1, 8) :]
        case 3:  # cut off
            return data[:at]
        case 4:  # repeat
            return data[:at] + data[min(at, other) : max(at, other)] + data[at:]
        case _:  # noise
            return data[:at] + dice.randbytes(dice.randint(1, 16)) + data[at:]


async def careless(scope: Any, receive: Any, send: Any) -> None:
    """Do a little of everything that an application does, without a look at the input."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({**message, "type": "websocket.send"})
        return
    size = 0
    while (message := await receive())["type"] == "http.request":
        size += len(message["body"])
        if not message["more_body"]:
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"%d" % size, "more_body": True})
    await send({"type": "http.response.body", "body": b"."})


LIMITS = ServerLimits(
    websocket_compression=True,
    websocket_message=20_000,
    websocket_close=0.3,
    header_time=0.3,
    idle_time=0.3,
    body_grace=0.3,
    body=100_000,
)


async def attack(server: Server, seed: int, until: float) -> int:
    """Send damaged bytes over one connection after another; return over how many."""
    dice = random.Random(seed)
    count = 0
    while time.monotonic() < until:
        count += 1
        data = damaged(dice)
        async with await server.connect() as client:
            try:
                cut = dice.randrange(len(data) + 1)
                for part in (data[:cut], data[cut:]):
                    if part:
                        await client.send(part)
                        await trio.lowlevel.checkpoint()
                if dice.random() < 0.8:
                    await client.stream.send_eof()
                    await client.read_all()
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                continue
    return count


async def run(seconds: float, seed: int, clients: int = 8) -> int:
    """Attack a server; return with how many connections. Fails when it logs an error."""
    counts: list[int] = []

    async def one(server: Server, number: int) -> None:
        until = time.monotonic() + seconds
        counts.append(await attack(server, seed * 1000 + number, until))

    async with open_server(careless, limits=LIMITS) as server:
        async with trio.open_nursery() as nursery:
            for number in range(clients):
                nursery.start_soon(one, server, number)
        assert b" 200 " in await server.ask(HTTP[0])
    return sum(counts)


def main() -> None:
    parser = argparse.ArgumentParser(description="Send damaged requests to a server.")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    print(trio.run(partial(run, options.seconds, options.seed)), "connections, no error")


if __name__ == "__main__":
    main()
