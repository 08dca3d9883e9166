"""Messages are counted in bytes: in an outbox, in a process, and when they are published."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import pytest
import trio
from starlette.applications import Starlette
from starlette.websockets import WebSocket, WebSocketDisconnect
from trio.testing import MockClock, wait_all_tasks_blocked

from fxtrio.errors import MessageTooLarge
from fxtrio.realtime import channel
from fxtrio.realtime.frames import Frame, encode_message
from fxtrio.realtime.handler import serve_websocket
from fxtrio.realtime.presence import Member
from fxtrio.realtime.receive_buffer import CAPACITY_BYTES, Inbox
from fxtrio.realtime.send_buffer import CLOSE_TIMEOUT, Outbox
from fxtrio.realtime.transport import EventTransport
from fxtrio.receive_budget import ROUND, ROUNDS, process_unreceived
from fxtrio.send_budget import process_unsent
from tests.realtime.client import Client, make_app

KILOBYTE = 1000


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    before = process_unsent.used, process_unreceived.used
    yield
    assert (process_unsent.used, process_unreceived.used) == before


async def stall(app: Starlette, name: str, ended: list[tuple[str, int]]) -> None:
    """Join a channel, and read nothing of it."""
    client = Client(app, raw=True)
    ws = await client.open()
    try:
        async with channel(ws, name):
            client.stop_reading()
            await trio.sleep_forever()
    except WebSocketDisconnect as error:
        ended.append((name, error.code))


async def test_an_outbox_is_full_by_its_bytes_long_before_it_is_by_its_messages(
    autojump_clock: MockClock,
) -> None:
    app = make_app(outbox_bytes=20 * KILOBYTE)
    ended: list[tuple[str, int]] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stall, app, "room", ended)
        await wait_all_tasks_blocked()
        for _ in range(40):
            await app.state.fx_broker.publish("room", "*" * 5 * KILOBYTE)
            await trio.sleep(0.01)
        await wait_all_tasks_blocked()
    assert ended == [("room", 1013)]
    assert trio.current_time() < 2 * CLOSE_TIMEOUT


async def test_drop_oldest_keeps_an_outbox_within_its_bytes() -> None:
    outbox = Outbox(
        *(Member(), EventTransport(Client(make_app()).ws), 256, "drop_oldest", lambda: None),
        most=20 * KILOBYTE,
    )
    for number in range(50):
        outbox.deliver(f"{number:02}" * KILOBYTE)
        assert outbox.unsent <= 22 * KILOBYTE
    assert outbox.dropped == 40
    outbox.close()


class Batches(EventTransport, frozen=True):
    """Notes how many bytes are sent at a time."""

    batch = 50 * KILOBYTE
    sizes: ClassVar[tuple[int, ...]] = ()

    async def send(self, frames: list[Frame]) -> None:
        """Take frames, and send none."""
        Batches.sizes += (sum(frame.size for frame in frames),)


async def test_messages_are_sent_together_up_to_the_size_of_a_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What is joined for a client is one more copy, for each of a thousand that do not read.
    monkeypatch.setattr(Batches, "sizes", ())
    transport = Batches(Client(make_app()).ws)
    outbox = Outbox(Member(), transport, 256, "close", lambda: None)
    for size in (20, 20, 40, 90, 10):
        outbox.deliver("*" * size * KILOBYTE)
    outbox.finish()
    await outbox.run()
    assert Batches.sizes == tuple(size * KILOBYTE for size in (40, 40, 90, 10))


async def test_a_full_process_closes_those_who_read_nothing_and_no_others(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    monkeypatch.setattr(process_unsent, "capacity", process_unsent.used + 100 * KILOBYTE)
    app = make_app()
    publish = app.state.fx_broker.publish
    ended: list[tuple[str, int]] = []
    names = [f"room {number}" for number in range(20)]
    reader = Client(app, raw=True)
    ws = await reader.open()
    async with trio.open_nursery() as nursery, channel(ws, "read"):
        for name in names:
            nursery.start_soon(stall, app, name, ended)
        await wait_all_tasks_blocked()
        for number in range(20):
            for name in names:
                await publish(name, f"{number:02}" * KILOBYTE)
            await publish("read", f"{number:02}")
            await trio.sleep(0.2)
        assert process_unsent.used < process_unsent.capacity + 20 * 2 * KILOBYTE
        assert reader.received == [f"{number:02}" for number in range(20)]
        await trio.sleep(CLOSE_TIMEOUT)  # which each of them still has for what was begun
        assert 10 < len(ended) <= 20
        assert {code for _, code in ended} == {1013}
        nursery.cancel_scope.cancel()


async def test_a_message_that_waits_for_many_counts_once(autojump_clock: MockClock) -> None:
    app = make_app()
    before = process_unsent.used
    async with trio.open_nursery() as nursery:
        for _ in range(30):
            nursery.start_soon(stall, app, "room", [])
        await wait_all_tasks_blocked()
        for number in range(4):
            await app.state.fx_broker.publish("room", f"{number}" * KILOBYTE)
            await trio.sleep(0.01)
        assert 0 < process_unsent.used - before <= 4 * KILOBYTE
        nursery.cancel_scope.cancel()


async def test_a_message_is_in_memory_once_in_whichever_form() -> None:
    for message in ("text", b"binary", "*" * 70_000):
        frame = encode_message(message)
        payload, wire = frame.payload, frame.wire
        assert frame._payload is None
        assert (frame.payload, frame.wire, frame.size) == (payload, wire, len(payload))
        assert wire.endswith(payload)


async def test_a_message_has_a_limit_that_the_error_names() -> None:
    app = make_app(max_publish=1000)
    client = Client(app)
    async with channel(await client.open(), "room") as room:
        await room.publish("*" * 1000)
        for message in ("*" * 1001, "ä" * 501, b"*" * 1001, ["*" * 997]):
            with pytest.raises(MessageTooLarge, match=r"'room'.*realtime\.maxPublish"):
                await room.publish(message)


async def test_text_that_is_read_ahead_counts_as_the_memory_that_it_takes() -> None:
    text = "\N{GRINNING FACE}" * 100_000  # of 4 bytes each
    taken = 0

    async def source() -> dict[str, object]:
        nonlocal taken
        taken += 1
        return {"type": "websocket.receive", "text": text}

    inbox = Inbox(source, connecting=False)
    with inbox.known_to({}):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(inbox.run)
            await wait_all_tasks_blocked()
            assert taken <= CAPACITY_BYTES // (4 * len(text)) + 2
            nursery.cancel_scope.cancel()


async def test_a_handler_ends_with_1013_when_its_messages_have_no_room_in_the_process(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    monkeypatch.setattr(process_unreceived, "capacity", 100 * KILOBYTE)
    app, ended = make_app(), []

    async def busy(ws: WebSocket) -> None:
        await ws.accept()
        try:
            await ws.receive_text()
            await trio.sleep_forever()
        finally:
            ended.append(trio.current_time())

    async def talk(ws: WebSocket) -> None:
        await ws.accept()
        async for text in ws.iter_text():
            await ws.send_text(text[:10])

    crowd, healthy = Client(app), Client(app)
    async with trio.open_nursery() as nursery:
        for handler, client in ((busy, crowd), (talk, healthy)):
            nursery.start_soon(serve_websocket, handler, client.ws)
            await client.connect()
        for size in (1, 150 * KILOBYTE):
            await crowd.send("*" * size)
        for _ in range(12):
            await healthy.send("*" * 30 * KILOBYTE)
            await trio.sleep(ROUND)
            process_unreceived.tick()
        assert (crowd.closed, healthy.closed, len(ended)) == (1013, None, 1)
        assert ended == [ROUNDS * ROUND]
        assert (process_unreceived.used, len(healthy.received)) == (0, 12)
        nursery.cancel_scope.cancel()
