"""Handlers that outlive their client, or their cancellation: the log says so while they run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio
from starlette.websockets import WebSocket
from trio.testing import MockClock, wait_all_tasks_blocked

from fxtrio.realtime import authenticate_websocket, channel
from fxtrio.realtime.handler import serve_websocket
from tests.realtime.client import Client, make_app


async def serve(handler: Callable[[WebSocket], Awaitable[None]], client: Client) -> None:
    await serve_websocket(handler, client.ws, place="pages/chat.fxl: websocket()")


class Unending:
    """Application code that ends long after it was cancelled, as a thread may."""

    def __init__(self) -> None:
        self._over = trio.Event()

    async def run(self) -> None:
        with trio.CancelScope(shield=True):
            await self._over.wait()

    async def after_receiving(self, ws: WebSocket) -> None:
        await ws.accept()
        await ws.receive_text()
        await self.run()

    async def in_cleanup(self, ws: WebSocket) -> None:
        await ws.accept()
        try:
            await trio.sleep_forever()
        finally:
            await self.run()

    async def in_a_channel(self, ws: WebSocket) -> None:
        await ws.accept()
        async with channel(ws, "room", broker=self):
            await trio.sleep_forever()

    async def before_accepting(self, ws: WebSocket) -> None:
        await authenticate_websocket(ws)

    async def subscribe(self, name: str, subscriber: object) -> None: ...

    async def unsubscribe(self, name: str, subscriber: object) -> None:
        await self.run()

    async def publish(self, name: str, message: object) -> None: ...

    async def authenticate(self, connection: object) -> None:
        await self.run()

    async def end_at(self, seconds: float) -> None:
        await trio.sleep_until(seconds)
        self._over.set()


async def open_unending(kind: str, unending: Unending, nursery: trio.Nursery) -> Client:
    app = make_app(plugins={"auth": unending})
    client = Client(app, headers={"cookie": "session=1"})
    nursery.start_soon(serve, getattr(unending, kind), client)
    nursery.start_soon(client.connect)
    await wait_all_tasks_blocked()
    await client.send("save this")
    await wait_all_tasks_blocked()
    return client


KINDS = ["after_receiving", "in_cleanup", "in_a_channel", "before_accepting"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_handler_that_does_not_end_is_logged_while_it_runs(
    autojump_clock: MockClock, caplog, kind: str
):
    unending = Unending()
    async with trio.open_nursery() as outer, trio.open_nursery() as nursery:
        outer.start_soon(unending.end_at, 140)
        client = await open_unending(kind, unending, nursery)
        await client.disconnect()
        for seconds, lines in ((29, 0), (31, 1), (130, 1)):
            await trio.sleep_until(seconds)
            assert caplog.text.count("ran for 30 s after its client had disconnected") == lines
        nursery.cancel_scope.cancel()  # a client without an answer


@pytest.mark.parametrize("kind", KINDS)
async def test_a_handler_that_outlives_a_shutdown_is_logged_while_it_runs(
    autojump_clock: MockClock, caplog, kind: str
):
    unending = Unending()
    async with trio.open_nursery() as outer:
        outer.start_soon(unending.end_at, 40)
        async with trio.open_nursery() as nursery:
            await open_unending(kind, unending, nursery)
            nursery.cancel_scope.cancel()
    assert caplog.text.count("still runs 30 s after it was cancelled") == 1


async def test_a_handler_that_ends_when_it_is_cancelled_is_not_waited_for(
    autojump_clock: MockClock, caplog
):
    async def handler(ws: WebSocket) -> None:
        await ws.accept()
        with trio.CancelScope(shield=True):
            await trio.sleep(3)
        await trio.sleep_forever()

    client = Client(make_app())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, handler, client)
        await client.connect()
        nursery.cancel_scope.cancel()
    assert trio.current_time() == 3
    assert caplog.records == []
