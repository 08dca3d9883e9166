"""Channels on real sockets, with a server that takes raw frames and with one that does not."""

from __future__ import annotations

import logging
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
import trio
from starlette.applications import Starlette
from starlette.websockets import WebSocket
from trio_websocket import open_websocket_url

from fxtrio.asgi_extensions import RAW_FRAMES
from fxtrio.realtime import channel, wait_closed
from fxtrio.realtime.handler import serve_websocket
from fxtrio.realtime.send_buffer import TOO_SLOW, TRY_AGAIN_LATER
from fxtrio.server.supervise.hypercorn_config import make_config
from fxtrio.server.supervise.listening.binding import Sockets
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.server.supervise.server import run_server
from tests.realtime.client import make_app

Handler = Callable[[WebSocket], Awaitable[None]]
PATIENCE = 20.0


@pytest.fixture(params=["raw frames", "events"])
def raw(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "raw frames")


def asgi(app: Starlette, handler: Handler, *, raw: bool) -> Any:
    async def run(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for stage in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{stage}.complete"})
            return
        scope["app"] = app
        if not raw:
            del scope["extensions"][RAW_FRAMES]
        await serve_websocket(handler, WebSocket(scope, receive, send), place="handler()")

    return run


@asynccontextmanager
async def serving(
    app: Starlette, handler: Handler, *, raw: bool = True
) -> AsyncIterator[tuple[int, trio.Event]]:
    """Serve ``handler``; yield the port, and the event that stops the server."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(256)
    listening.setblocking(False)
    port, stop = listening.getsockname()[1], trio.Event()
    config = make_config(ServeOptions(app=""))
    config.errorlog = logging.getLogger("server under test")
    run = partial(run_server, sockets=Sockets([], [listening]), stop=stop)
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            await nursery.start(run, asgi(app, handler, raw=raw), config)
            yield port, stop
            stop.set()


async def stay(ws: WebSocket) -> None:
    await ws.accept()
    async with channel(ws, "room"):
        await wait_closed(ws)


async def wait_for_subscriptions(app: Starlette, count: int) -> None:
    while app.state.fx_broker.statistics().subscriptions != count:  # noqa: ASYNC110
        await trio.sleep(0.005)


async def test_every_message_reaches_every_subscriber_in_order(raw):
    app, subscribers, messages = make_app(), 20, 300
    complete = []

    async def subscribe(port: int) -> None:
        async with open_websocket_url(f"ws://127.0.0.1:{port}/") as client:
            for number in range(messages):
                assert await client.get_message() == f'{{"number":{number}}}'
            complete.append(port)

    async with serving(app, stay, raw=raw) as (port, _), trio.open_nursery() as nursery:
        for _ in range(subscribers):
            nursery.start_soon(subscribe, port)
        await wait_for_subscriptions(app, subscribers)
        for number in range(messages):
            await app.state.fx_broker.publish("room", {"number": number})
    assert len(complete) == subscribers


async def test_text_json_and_binary_arrive_as_such(raw):
    app = make_app()
    async with (
        serving(app, stay, raw=raw) as (port, _),
        open_websocket_url(f"ws://127.0.0.1:{port}/") as client,
    ):
        await wait_for_subscriptions(app, 1)
        sent = ["täxt", {"a": [1]}, b"\x00\xff", "x" * 70_000]
        for message in sent:
            await app.state.fx_broker.publish("room", message)
        received = [await client.get_message() for _ in sent]
    assert received == ["täxt", '{"a":[1]}', b"\x00\xff", "x" * 70_000]


async def test_the_handlers_own_messages_and_those_of_the_channel_mix(raw):
    async def echo(ws: WebSocket) -> None:
        await ws.accept()
        async with channel(ws, "room") as room:
            async for text in ws.iter_text():
                await ws.send_text(f"own {text}")
                await room.publish(f"all {text}")

    async with (
        serving(make_app(), echo, raw=raw) as (port, _),
        open_websocket_url(f"ws://127.0.0.1:{port}/") as client,
    ):
        for number in range(50):
            await client.send_message(str(number))
        received = [await client.get_message() for _ in range(100)]
    for kind in ("own", "all"):
        assert [text for text in received if str(text).startswith(kind)] == [
            f"{kind} {number}" for number in range(50)
        ]


async def close_code(port: int) -> int:
    """Return the code of the close frame that comes, and nothing before it."""
    async with await open_raw(port) as stream:
        frame = b""
        while len(frame) < 4:
            data = await stream.receive_some()
            assert data, "the connection was cut without a close frame"
            frame += data
    assert frame[0] == 0x88
    return int.from_bytes(frame[2:4], "big")


async def test_a_handler_that_returns_closes_1000():
    async with serving(make_app(), lambda ws: ws.accept()) as (port, _):
        assert await close_code(port) == 1000


async def test_a_handler_that_raises_closes_1011(caplog):
    async def fail(ws: WebSocket) -> None:
        await ws.accept()
        raise ValueError("broken")

    async with serving(make_app(), fail) as (port, _):
        assert await close_code(port) == 1011
    assert "ValueError: broken" in caplog.text


async def test_a_shutdown_closes_1001():
    app, codes = make_app(), []

    async def wait_for_the_end(port: int) -> None:
        codes.append(await close_code(port))

    async with serving(app, stay) as (port, stop):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait_for_the_end, port)
            await wait_for_subscriptions(app, 1)
            stop.set()
    assert codes == [1001]


@pytest.mark.parametrize(("fails", "status"), [(False, 403), (True, 500)])
async def test_a_handshake_that_is_not_accepted_is_rejected(fails, status):
    async def reject(ws: WebSocket) -> None:
        if fails:
            raise ValueError("early")
        await ws.close()

    async with serving(make_app(), reject) as (port, _):
        async with await open_raw(port, status=status):
            pass


async def open_raw(
    port: int, *, receive_buffer: int | None = None, status: int = 101
) -> trio.SocketStream:
    """Return a socket that is through the handshake, and reads only when a test calls for it."""
    client = trio.socket.socket()
    if receive_buffer is not None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    await client.connect(("127.0.0.1", port))
    stream = trio.SocketStream(client)
    await stream.send_all(
        b"GET / HTTP/1.1\r\nhost: test\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
        b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += await stream.receive_some(1)
    assert head.startswith(b"HTTP/1.1 %d" % status)
    return stream


async def test_clients_that_vanish_leave_nothing_behind(raw):
    app = make_app()
    async with serving(app, stay, raw=raw) as (port, _):
        for _ in range(3):
            streams = [await open_raw(port) for _ in range(20)]
            await wait_for_subscriptions(app, 20)
            for index, stream in enumerate(streams):
                if index % 2:  # a reset instead of a farewell
                    linger = struct.pack("ii", 1, 0)
                    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                await stream.aclose()
            await wait_for_subscriptions(app, 0)


async def test_a_stalled_subscriber_is_closed_with_1013_and_nobody_else_notices():
    app = make_app(outbox=16)
    received = []

    async def subscribe(port: int) -> None:
        async with open_websocket_url(f"ws://127.0.0.1:{port}/") as client:
            while (message := await client.get_message()) != "the end":
                received.append(message)

    async with (
        serving(app, stay) as (port, _),
        await open_raw(port, receive_buffer=4096) as stalled,
    ):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(subscribe, port)
            await wait_for_subscriptions(app, 2)
            published = 0
            while app.state.fx_broker.statistics().subscriptions == 2:
                await app.state.fx_broker.publish("room", b"x" * 60_000)
                published += 1
                await trio.sleep(0.002)
            await app.state.fx_broker.publish("room", "the end")
        frames = b""
        while not frames.endswith(TOO_SLOW.encode()):
            data = await stalled.receive_some()
            assert data, "the connection was cut without a close frame"
            frames += data
    assert received == [b"x" * 60_000] * published
    close = TRY_AGAIN_LATER.to_bytes(2, "big") + TOO_SLOW.encode()
    assert frames.endswith(bytes((0x88, len(close))) + close)
