"""WebSockets and limits, and applications that do not play along."""

from __future__ import annotations

from typing import Any, cast

import pytest
import trio
import trio.testing

from fxtrio.errors import ClientDisconnected
from fxtrio.server.http1 import ServerLimits
from fxtrio.server.http1.response import BadResponse
from fxtrio.server.http1.websocket.protocol import WsProtocol
from fxtrio.server.http1.websocket.stream import Pings, WsStream

from .frames import (
    BINARY,
    CONT,
    PING,
    PONG,
    TEXT,
    close_frame,
    frame,
    open_websocket,
    upgrade,
)
from .support import open_server
from .websocket_apps import Recorder


async def test_a_message_above_the_limit_is_closed_with_1009() -> None:
    limits = ServerLimits(websocket_message=100)
    app = Recorder()
    async with open_server(app, limits=limits) as server, await open_websocket(server) as client:
        await client.send(frame(BINARY, b"*" * 100))
        await client.send(frame(BINARY, b"*" * 60, fin=False) + frame(CONT, b"*" * 41))
        assert (await client.frame()).code == 1009
        assert await client.is_closed()
    assert [len(message.get("bytes") or b"") for message in app.messages] == [100, 0]
    assert app.messages[-1]["code"] == 1009


async def test_a_loop_that_only_sends_ends_when_the_client_has_left() -> None:
    ended = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        try:
            while True:
                await send({"type": "websocket.send", "text": "tick"})
        except OSError as error:
            assert isinstance(error, ClientDisconnected)
            ended.set()
            raise

    async with open_server(app) as server:
        async with await open_websocket(server) as client:
            await client.frame()
        with trio.fail_after(5):
            await ended.wait()


async def test_a_loop_that_only_sends_does_not_keep_others_waiting() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        if scope["path"] == "/greedy":
            while True:
                await send({"type": "websocket.send", "text": "x"})
        await send({"type": "websocket.send", "text": "served"})

    async with open_server(app) as server, trio.open_nursery() as nursery:

        async def swallow() -> None:
            async with await open_websocket(server, b"/greedy") as greedy:
                while await greedy.more():
                    greedy.buffer.clear()

        nursery.start_soon(swallow)
        async with await open_websocket(server, b"/") as client:
            assert (await client.frame()).payload == b"served"
        nursery.cancel_scope.cancel()


async def test_a_busy_application_answers_pings_and_hears_of_the_end() -> None:
    go = trio.Event()
    messages = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await go.wait()
        messages.append(await receive())
        messages.append(await receive())
        with pytest.raises(ClientDisconnected):
            await send({"type": "websocket.send", "text": "too late"})

    async with open_server(app) as server, await open_websocket(server) as client:
        await client.send(frame(TEXT, b"kept") + frame(PING, b"p"))
        assert (await client.frame()).opcode == PONG
        await client.send(close_frame(4002))
        go.set()
        assert (await client.frame()).code == 4002
        assert await client.is_closed()
    assert [message.get("text") for message in messages] == ["kept", None]
    assert messages[1]["code"] == 4002


async def test_an_application_that_never_receives_does_not_keep_the_connection_open() -> None:
    ended = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await ended.wait()

    async with open_server(app) as server, await open_websocket(server) as client:
        await client.send(close_frame(1000))
        assert (await client.frame()).code == 1000
        ended.set()
        assert await client.is_closed()


async def test_a_client_is_not_read_further_than_the_backlog() -> None:
    limits = ServerLimits(websocket_backlog=10_000)
    go = trio.Event()
    total = 20_000_000

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await go.wait()
        taken = 0
        while taken < total:
            taken += len((await receive())["bytes"])
        await send({"type": "websocket.send", "text": "all"})

    async with open_server(app, limits=limits) as server, await open_websocket(server) as client:
        sent = trio.Event()

        async def flood() -> None:
            for _ in range(total // 10_000):
                await client.send(frame(BINARY, b"*" * 10_000))
            sent.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(flood)
            with trio.move_on_after(2):
                await sent.wait()
            assert not sent.is_set(), "the server read what nobody receives"
            go.set()
            assert (await client.frame()).payload == b"all"


async def test_pings_are_sent_and_a_client_without_pongs_is_cut_off() -> None:
    limits = ServerLimits(websocket_ping=0.1, websocket_pong=0.3)
    app = Recorder()
    async with open_server(app, limits=limits) as server, await open_websocket(server) as client:
        for _ in range(2):
            ping = await client.frame()
            assert ping.opcode == PING
            await client.send(frame(PONG, ping.payload))
        assert (await client.frame()).opcode == PING
        assert await client.is_closed()
    assert app.messages[-1]["code"] == 1006


async def test_a_websocket_that_waits_for_its_client_is_looked_at_for_its_pings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticks = []

    def noting(stream: WsStream, now: float) -> float:
        ticks.append(now)
        return tick(stream, now)

    tick = WsStream.tick
    monkeypatch.setattr(WsStream, "tick", noting)
    limits = ServerLimits(websocket_ping=0.1, precision=0.001)
    async with (
        open_server(Recorder(), limits=limits) as server,
        await open_websocket(server) as client,
    ):
        for _ in range(5):
            ping = await client.frame()
            await client.send(frame(PONG, ping.payload))
    assert len(ticks) < 50


class Client:
    """What `Pings` sees of a client."""

    def __init__(self, *, interval: float, patience: float) -> None:
        self.pongs, self.is_full = 0, False
        self.pings: list[int] = []
        self._pings = Pings(ServerLimits(websocket_ping=interval, websocket_pong=patience))

    def ping(self) -> bytes:
        return b"ping"

    def is_alive_at(self, now: int) -> bool:
        sent = self._pings.check(cast("WsProtocol", self), now, backlog=False)
        if sent:
            self.pings.append(now)
        return sent is not None


def test_pings_are_sent_at_an_interval_whenever_their_pong_came() -> None:
    client = Client(interval=20, patience=60)
    for now in range(100):
        assert client.is_alive_at(now)
        client.pongs = len(client.pings)
    assert client.pings == [20, 40, 60, 80]


def test_no_ping_is_sent_before_the_pong_of_the_last() -> None:
    client = Client(interval=20, patience=60)
    for now in range(70):
        assert client.is_alive_at(now)
        client.pongs += now == 50
    assert client.pings == [20, 51]


def test_a_pong_beyond_its_deadline_ends_the_connection() -> None:
    client = Client(interval=20, patience=5)
    assert [now for now in range(30) if not client.is_alive_at(now)] == [26]


def test_the_deadline_of_a_pong_is_void_while_nothing_is_read() -> None:
    client = Client(interval=20, patience=1)
    for tick in range(4 * 30):
        client.is_full = tick > 4 * 20
        assert client.is_alive_at(tick // 4)


async def test_a_client_that_does_not_read_is_cut_off() -> None:
    limits = ServerLimits(write_stall=0.5)
    ended = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        try:
            while True:
                await send({"type": "websocket.send", "bytes": b"*" * 100_000})
        except OSError:
            ended.set()

    async with open_server(app, limits=limits) as server, await open_websocket(server):
        with trio.fail_after(5):
            await ended.wait()


async def test_several_tasks_may_send_at_the_same_time() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})

        async def fill(letter: str) -> None:
            for _ in range(20):
                await send({"type": "websocket.send", "text": letter * 100_000})

        async with trio.open_nursery() as nursery:
            for letter in "abc":
                nursery.start_soon(fill, letter)

    async with open_server(app) as server, await open_websocket(server) as client:
        for _ in range(60):
            payload = (await client.frame()).payload
            assert payload == payload[:1] * 100_000


@pytest.mark.parametrize(
    "messages",
    [
        [{"type": "websocket.send", "text": "too early"}],
        [{"type": "websocket.accept", "subprotocol": "not offered"}],
        [{"type": "websocket.accept", "headers": [(b"sec-websocket-accept", b"x")]}],
        [{"type": "websocket.accept", "headers": [(b"x", b"a\r\nb: c")]}],
        [{"type": "websocket.accept"}, {"type": "websocket.accept"}],
        [{"type": "websocket.accept"}, {"type": "websocket.send"}],
        [{"type": "websocket.accept"}, {"type": "websocket.close", "code": 1006}],
        [{"type": "websocket.accept"}, {"type": "websocket.unheard"}],
        [
            {"type": "websocket.accept"},
            {"type": "websocket.close"},
            {"type": "websocket.send", "text": "late"},
        ],
    ],
)
async def test_an_application_that_breaks_asgi_is_reported(messages: list[Any]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        for message in messages:
            await send(message)

    async with open_server(app) as server:
        async with await server.connect() as client:
            await client.send(upgrade())
            await client.more()
        with trio.fail_after(5):
            (record,) = await server.errors()
        assert record.exc_info is not None and record.exc_info[0] is BadResponse
