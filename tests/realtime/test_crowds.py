"""A crowd of subscribers that comes at once pays for no more than it needs."""

from __future__ import annotations

from contextlib import AsyncExitStack
from contextvars import ContextVar

import pytest
import trio
from starlette.types import Message as Event
from starlette.websockets import WebSocket, WebSocketDisconnect
from trio.testing import MockClock, wait_all_tasks_blocked

from fxtrio.realtime import Member, MemoryBroker, Subscriber, channel
from fxtrio.realtime.handler import serve_websocket
from fxtrio.realtime.send_buffer import Outbox
from fxtrio.realtime.subscriptions import Membership
from fxtrio.realtime.transport import EventTransport
from tests.realtime.client import Client, make_app


async def test_subscribers_that_take_each_message_at_once_need_no_task() -> None:
    app = make_app()
    clients = [Client(app, raw=True) for _ in range(3)]
    before = trio.lowlevel.current_statistics().tasks_living
    async with AsyncExitStack() as stack:
        for client in clients:
            await stack.enter_async_context(channel(await client.open(), "room"))
        await app.state.fx_broker.publish("room", "hello")
        await wait_all_tasks_blocked()
        assert [client.received for client in clients] == [["hello"]] * 3
        assert trio.lowlevel.current_statistics().tasks_living == before


async def test_a_writer_runs_in_the_context_of_its_subscriber_not_of_a_publisher() -> None:
    who = ContextVar("who", default="nobody")
    writers: list[str] = []
    client = Client(make_app())
    ws = await client.open()
    take = ws._send

    async def note(event: Event) -> None:
        writers.append(who.get())
        await take(event)

    ws._send = note
    who.set("the subscriber")
    async with channel(ws, "room") as room:
        who.set("a publisher")
        await room.publish("hello")
        await wait_all_tasks_blocked()
    assert (client.received, writers) == (["hello"], ["the subscriber"])


class SlowBroker(MemoryBroker):
    """Takes a second for each call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, float]] = []

    async def subscribe(self, name: str, subscriber: Subscriber) -> None:
        """Subscribe after a second."""
        await trio.sleep(1)
        self.calls.append(("subscribe", trio.current_time()))

    async def unsubscribe(self, name: str, subscriber: Subscriber) -> None:
        """Unsubscribe after a second."""
        await trio.sleep(1)
        self.calls.append(("unsubscribe", trio.current_time()))


async def test_who_leaves_while_joining_is_unsubscribed_once_and_behind_it(
    autojump_clock: MockClock,
) -> None:
    broker, ended = SlowBroker(), []
    outbox = Outbox(Member(), EventTransport(Client(make_app()).ws), 1, "close", lambda: None)
    membership = Membership("room", broker, outbox)

    async def leave() -> None:
        await membership.leave()
        ended.append(trio.current_time())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(membership.join)
        await wait_all_tasks_blocked()
        nursery.start_soon(leave)
        nursery.start_soon(leave)
    assert broker.calls == [("subscribe", 1), ("unsubscribe", 2)]
    assert ended == [2, 2]


async def test_a_client_that_disconnects_leaves_all_of_its_channels_at_once(
    autojump_clock: MockClock,
) -> None:
    broker = SlowBroker()

    async def handler(ws: WebSocket) -> None:
        await ws.accept()
        async with channel(ws, "a"), channel(ws, "b"), channel(ws, "c"):
            with pytest.raises(WebSocketDisconnect):
                await ws.receive_text()
            await trio.sleep(10)  # saves something

    client = Client(make_app(broker))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve_websocket, handler, client.ws)
        await client.connect()
        await trio.sleep(3)
        await client.disconnect()
    assert broker.calls[3:] == [("unsubscribe", 4)] * 3
