"""A channel carries messages to its subscribers, waits for none, and forgets all of them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.websockets import WebSocket, WebSocketDisconnect
from trio.testing import MockClock, wait_all_tasks_blocked

from fxtrio.errors import BrokerUnreachable, MessageNotEncodable
from fxtrio.realtime import (
    Broker,
    Channel,
    Frame,
    Member,
    MemoryBroker,
    Message,
    Missed,
    Subscriber,
    channel,
)
from fxtrio.realtime.broker import BrokerMissing, PresenceUnavailable
from fxtrio.realtime.channels import WebSocketNotAccepted
from fxtrio.realtime.frames import MissedFrame
from fxtrio.realtime.handler import serve_websocket
from fxtrio.realtime.send_buffer import CLOSE_TIMEOUT, LAG, Outbox
from fxtrio.realtime.subscriptions import HOLD, STALL
from fxtrio.realtime.transport import EventTransport
from tests.realtime.client import Client, make_app

WIRE = Path(__file__).parents[1] / "wire" / "missed.json"


@pytest.fixture(params=["events", "raw frames"])
def raw(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "raw frames")


@asynccontextmanager
async def joined(
    app: Starlette, name: str = "room", *, count: int = 1, raw: bool = False
) -> AsyncIterator[list[tuple[Client, Channel]]]:
    """Join ``count`` clients, each in this task."""
    async with AsyncExitStack() as stack:
        members = []
        for _ in range(count):
            client = Client(app, raw=raw)
            room = await stack.enter_async_context(channel(await client.open(), name))
            members.append((client, room))
        yield members


def assert_empty(app: Starlette) -> None:
    statistics = app.state.fx_broker.statistics()
    assert (statistics.channels, statistics.subscriptions) == (0, 0)


# --- messages


@pytest.mark.parametrize(
    ("message", "frame"),
    [({"a": 1}, '{"a":1}'), ([1, None], "[1,null]"), ("text", "text"), (b"\x00", b"\x00")],
)
async def test_a_message_reaches_every_subscriber_in_its_encoding(message, frame, raw):
    async with joined(make_app(), count=3, raw=raw) as members:
        await members[0][1].publish(message)
        await wait_all_tasks_blocked()
        assert [client.received for client, _ in members] == [[frame]] * 3


async def test_a_message_does_not_reach_other_channels():
    app = make_app()
    async with joined(app, "one") as [(one, room)], joined(app, "two") as [(two, _)]:
        await room.publish("hello")
        await wait_all_tasks_blocked()
    assert (one.received, two.received) == (["hello"], [])


async def test_one_websocket_may_be_on_several_channels():
    app = make_app()
    client = Client(app)
    ws = await client.open()
    async with channel(ws, "one") as one, channel(ws, "two") as two:
        await one.publish("1")
        await two.publish("2")
        await wait_all_tasks_blocked()
    assert sorted(client.received) == ["1", "2"]
    assert_empty(app)


async def test_code_without_a_websocket_publishes_through_the_broker(raw):
    app = make_app()
    async with joined(app, raw=raw) as [(client, _)]:
        await app.state.fx_broker.publish("room", {"from": "an action"})
        await wait_all_tasks_blocked()
    assert client.received == ['{"from":"an action"}']


async def test_a_message_of_another_type_is_rejected_and_nobody_gets_it():
    async with joined(make_app()) as [(client, room)]:
        with pytest.raises(MessageNotEncodable):
            await room.publish(3)
        await wait_all_tasks_blocked()
        assert client.received == []


async def test_the_messages_of_each_publisher_keep_their_order(raw):
    async def talk(room: Channel, name: str) -> None:
        for number in range(300):
            await room.publish(f"{name} {number}")

    async with joined(make_app(), count=3, raw=raw) as members:
        async with trio.open_nursery() as nursery:
            for index, (_, room) in enumerate(members):
                nursery.start_soon(talk, room, f"publisher-{index}")
        await wait_all_tasks_blocked()
        for client, _ in members:
            assert len(client.received) == 900
            for index in range(3):
                mine = [text for text in client.received if text.startswith(f"publisher-{index} ")]  # type: ignore[arg-type]
                assert mine == [f"publisher-{index} {number}" for number in range(300)]


async def test_a_burst_beyond_the_outbox_reaches_readers_whole(raw):
    async with joined(make_app(outbox=10), count=2, raw=raw) as members:
        for number in range(1000):
            await members[0][1].publish(str(number))
        await wait_all_tasks_blocked()
        for client, _ in members:
            assert client.received == [str(number) for number in range(1000)]


async def test_more_publishers_at_once_than_an_outbox_holds_lose_nothing(raw):
    async with joined(make_app(outbox=4), count=2, raw=raw) as members:
        async with trio.open_nursery() as nursery:
            for number in range(100):
                nursery.start_soon(members[0][1].publish, str(number))
        await wait_all_tasks_blocked()
        for client, _ in members:
            assert sorted(client.received, key=int) == [str(number) for number in range(100)]


async def test_a_burst_is_sent_in_few_writes_to_a_server_that_takes_raw_frames():
    async with joined(make_app(), raw=True) as [(client, room)]:
        for number in range(320):
            await room.publish(str(number))
        await wait_all_tasks_blocked()
        assert len(client.received) == 320
        assert client.writes <= 1 + 320 / 32 + 1  # the handshake, and one for each turn


async def test_a_publisher_in_a_loop_leaves_others_their_turn():
    room_is_open = True

    async def close_the_room() -> None:
        nonlocal room_is_open
        room_is_open = False

    async with joined(make_app(), count=0), trio.open_nursery() as nursery:
        nursery.start_soon(close_the_room)
        with trio.fail_after(5):
            broker = MemoryBroker()
            while room_is_open:
                await broker.publish("empty", "anybody?")


async def test_what_was_taken_before_the_block_ended_is_still_sent(raw):
    async with joined(make_app(), raw=raw) as [(client, room)]:
        for number in range(20):
            await room.publish(str(number))
    assert len(client.received) == 20


async def test_nothing_is_sent_after_the_block():
    app = make_app()
    async with joined(app) as [(client, _)]:
        pass
    await app.state.fx_broker.publish("room", "too late")
    await wait_all_tasks_blocked()
    assert client.received == []


# --- slow and broken readers


@pytest.mark.parametrize("seconds", [0, 1], ids=["in a burst", "one a second"])
async def test_a_stalled_reader_delays_nobody_and_is_closed_with_1013(
    raw, seconds, autojump_clock: MockClock
):
    app = make_app(outbox=8)
    stalled = Client(app, raw=raw)
    outcome = []

    async def stall() -> None:
        ws = await stalled.open()
        with pytest.raises(WebSocketDisconnect) as caught:
            async with channel(ws, "room"):
                stalled.stop_reading()
                await trio.sleep_forever()
        outcome.append(caught.value.code)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(stall)
        await wait_all_tasks_blocked()
        async with joined(app, count=3, raw=raw) as members:
            for number in range(100):
                await trio.sleep(seconds)
                await members[0][1].publish(str(number))
                if number == 12:
                    stalled.read_on()
            await wait_all_tasks_blocked()
            for client, _ in members:
                assert client.received == [str(number) for number in range(100)]
            if seconds:
                assert trio.current_time() == 100 * seconds
            else:
                assert trio.current_time() <= STALL
    assert outcome == [1013]
    assert stalled.closed == 1013
    assert len(stalled.received) <= 8 + 1
    assert_empty(app)


async def test_a_reader_that_never_reads_again_holds_its_block_for_the_patience_only(
    autojump_clock: MockClock,
):
    app = make_app(outbox=2)
    client = Client(app)
    ws = await client.open()
    with pytest.raises(WebSocketDisconnect) as caught:
        async with channel(ws, "room") as room:
            client.stop_reading()
            for _ in range(4):
                await trio.sleep(1)
                await room.publish("hello")
            await trio.sleep_forever()
    assert caught.value.code == 1013
    assert trio.current_time() == 4 + CLOSE_TIMEOUT
    assert_empty(app)


async def test_publishers_wait_longer_for_a_client_while_nobody_else_waits(
    autojump_clock: MockClock,
):
    client = Client(make_app(outbox=2))
    ws = await client.open()
    with pytest.raises(WebSocketDisconnect):
        async with channel(ws, "room") as room:
            client.stop_reading()
            for _ in range(5):
                await room.publish("hello")
            assert trio.current_time() == pytest.approx(HOLD)
            client.read_on()
            await trio.sleep_forever()


async def test_a_slow_reader_delays_publishers_and_stays(raw, autojump_clock: MockClock):
    async def read_now_and_then(client: Client) -> None:
        while True:
            client.stop_reading()
            await trio.sleep(STALL * 0.8)
            client.read_on()
            await trio.sleep(0.001)

    async with joined(make_app(outbox=2), raw=raw) as [(client, room)]:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read_now_and_then, client)
            for number in range(20):
                await room.publish(str(number))
            nursery.cancel_scope.cancel()
        client.read_on()
        await wait_all_tasks_blocked()
        assert client.received == [str(number) for number in range(20)]


async def test_a_reader_that_reads_far_too_slowly_is_closed(autojump_clock: MockClock):
    class Slow(Client):
        async def _write(self) -> None:
            await trio.sleep(STALL * 0.8)

    client = Slow(make_app(outbox=200))
    ws = await client.open()
    with pytest.raises(WebSocketDisconnect) as caught:
        async with channel(ws, "room") as room:
            for number in range(1000):
                await room.publish(str(number))
    assert caught.value.code == 1013
    assert trio.current_time() <= LAG + CLOSE_TIMEOUT


async def test_an_error_of_the_body_wins_over_the_overflow(autojump_clock: MockClock):
    client = Client(make_app(outbox=1))
    ws = await client.open()
    with pytest.raises(KeyError):
        async with channel(ws, "room") as room:
            client.stop_reading()
            try:
                for _ in range(3):
                    await room.publish("hello")
                await trio.sleep_forever()
            finally:
                client.read_on()
                raise KeyError("cleanup")


async def test_drop_oldest_keeps_the_connection_and_the_newest_messages(
    autojump_clock: MockClock,
):
    async with joined(make_app(outbox=3, overflow="drop_oldest")) as [(client, room)]:
        client.stop_reading()
        for number in range(10):
            await room.publish(str(number))
            await wait_all_tasks_blocked()
        client.read_on()
        await wait_all_tasks_blocked()
        assert client.received == ["0", "7", "8", "9"]
        assert client.closed is None


async def test_drop_oldest_says_what_it_dropped_where_it_is_missing(autojump_clock: MockClock):
    asking = Client(app := make_app(outbox=3, overflow="drop_oldest"), query=b"a=1&fx-missed")
    async with channel(await asking.open(), "room") as room:
        events = room.events()
        asking.stop_reading()
        for number in range(10):
            await room.publish(str(number))
            await wait_all_tasks_blocked()
        [outbox] = app.state.fx_broker._topics.subscribers("room")
        assert len(outbox._frames) == 4
        asking.read_on()
        await wait_all_tasks_blocked()
        missed = '{"$missed":{"count":6}}'
        assert asking.received == ["0", missed, "7", "8", "9"]
        assert await anext(events) == Missed(6)


async def test_lost_messages_are_reported_in_order_to_subscribers_that_ask_for_it(
    autojump_clock: MockClock,
):
    app = make_app()
    asking, other = Client(app, query=b"fx-missed"), Client(app)
    async with channel(await asking.open(), "room") as room, channel(await other.open(), "room"):
        await room.publish("before")
        await wait_all_tasks_blocked()
        asking.stop_reading()
        for lost in (Missed(1), Missed(2), "between", Missed(), Missed(3), "after"):
            if isinstance(lost, str):
                await room.publish(lost)
            else:
                app.state.fx_broker._topics.notify("room", lost)
        asking.read_on()
        await wait_all_tasks_blocked()
    wire = [case["frame"] for case in json.loads(WIRE.read_text())]
    assert asking.received == ["before", wire[0], "between", wire[1], "after"]
    assert other.received == ["before", "between", "after"]


@given(
    capacity=st.integers(1, 4),
    steps=st.lists(st.sampled_from(["message", "missed", "read"]), max_size=60),
)
def test_places_of_lost_messages_are_bounded_and_count_right(capacity, steps):
    trio.run(play, capacity, steps)


async def play(capacity: int, steps: list[str]) -> None:
    """Let a stalled client take one frame now and then; all messages are sent or counted."""
    outbox = Outbox(
        Member(),
        EventTransport(Client(make_app()).ws),
        capacity,
        "drop_oldest",
        lambda: None,
        wants_missed=True,
    )
    published = missed = sent = counted = 0
    for step in steps:
        if step == "message":
            outbox.deliver(str(published))
            published += 1
        elif step == "missed":
            outbox.notice(Missed(1))
            missed += 1
        else:
            taken = outbox._take(1) if outbox._frames else []
            sent += len(taken) - len(marks(taken))
            counted += sum(marks(taken))
        assert len(outbox._frames) <= 2 * capacity + 1
    marked = marks(outbox._frames)
    waiting = len(outbox._frames) - len(marked)
    assert published + missed == sent + waiting + counted + sum(marked)
    assert outbox.dropped == published - sent - waiting
    outbox.close()
    assert outbox.unsent == 0


def marks(frames: Iterable[Frame]) -> list[int]:
    return [frame.missed.count or 0 for frame in frames if isinstance(frame, MissedFrame)]


async def test_a_subscriber_that_joins_while_the_broker_is_down_gets_try_again_later(caplog):
    class Away(MemoryBroker):
        async def subscribe(self, name: str, subscriber: Subscriber) -> None:
            raise BrokerUnreachable(name, "subscribe")

    client = Client(make_app(Away()))

    async def handler(ws: WebSocket) -> None:
        await ws.accept()
        async with channel(ws, "room"):
            pytest.fail("joined")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(serve_websocket, handler, client.ws))
        await client.connect()
    assert client.closed == 1013
    assert [record for record in caplog.records if record.levelname != "INFO"] == []


async def test_a_handler_that_cannot_publish_ends_with_a_line_and_no_traceback(caplog):
    class Away(MemoryBroker):
        async def publish(self, name: str, message: Message) -> None:
            raise BrokerUnreachable(name, "publish")

    client = Client(make_app(Away()))

    async def handler(ws: WebSocket) -> None:
        await ws.accept()
        async with channel(ws, "room") as room, trio.open_nursery() as nursery:
            nursery.start_soon(room.publish, "hello")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(serve_websocket, handler, client.ws))
        await client.connect()
    assert client.closed == 1013
    [record] = caplog.records
    assert "could not publish" in record.getMessage()
    assert record.exc_info is None


async def test_the_memory_of_a_stalled_reader_is_bounded(autojump_clock: MockClock):
    client = Client(app := make_app(outbox=5, overflow="drop_oldest"))
    async with channel(await client.open(), "room"):
        client.stop_reading()
        for _ in range(100):
            await app.state.fx_broker.publish("room", "hello")
            await wait_all_tasks_blocked()
        [outbox] = app.state.fx_broker._topics.subscribers("room")
        assert len(outbox._frames) == 5
        assert outbox.dropped == 100 - 5 - 1
        client.read_on()


async def test_a_disconnected_client_is_removed_while_its_handler_runs_on(raw):
    app = make_app()
    async with joined(app, raw=raw) as [(client, room)]:
        client.break_off()
        await room.publish("anybody?")
        await wait_all_tasks_blocked()
        assert_empty(app)
    assert client.received == []


async def test_a_client_that_closed_on_its_own_side_is_forgotten(raw):
    app = make_app()
    async with joined(app, raw=raw) as [(client, room)]:
        await client.ws.close()
        await room.publish("anybody?")
        await wait_all_tasks_blocked()
        assert_empty(app)
    assert client.received == []


async def test_a_frame_that_was_begun_is_ended_when_the_block_is_cancelled(
    autojump_clock: MockClock,
):
    client = Client(make_app())
    ws = await client.open()

    async def read_on_later() -> None:
        await trio.sleep(3)
        client.read_on()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read_on_later)
        with trio.move_on_after(1):
            async with channel(ws, "room") as room:
                client.stop_reading()
                await room.publish("begun")
                await wait_all_tasks_blocked()
                await room.publish("not begun")
                await trio.sleep_forever()
    assert client.received == ["begun"]
    assert trio.current_time() == 3


# --- leaving


class Boom(Exception):
    pass


@pytest.mark.parametrize(
    "error", [Boom(), WebSocketDisconnect(1001), ExceptionGroup("g", [Boom()])]
)
async def test_an_error_leaves_the_block_as_it_is_and_the_broker_empty(error):
    app = make_app()
    client = Client(app)
    ws = await client.open()
    with pytest.raises(type(error)) as caught:
        async with channel(ws, "room"):
            raise error
    assert caught.value is error
    assert_empty(app)


async def test_cancellation_leaves_the_broker_empty():
    app = make_app()
    with trio.CancelScope() as scope:
        async with joined(app, count=3):
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert_empty(app)


async def test_a_subscription_that_is_cancelled_midway_is_undone(autojump_clock: MockClock):
    class Slow(MemoryBroker):
        async def subscribe(self, name: str, subscriber: Subscriber) -> None:
            await super().subscribe(name, subscriber)
            await trio.sleep(10)

    app = make_app(Slow())
    client = Client(app)
    ws = await client.open()
    with trio.move_on_after(1):
        async with channel(ws, "room"):
            pytest.fail("joined")
    assert trio.current_time() == 1
    assert_empty(app)


async def test_a_broker_that_cannot_subscribe_fails_the_block():
    class Broken(MemoryBroker):
        async def subscribe(self, name: str, subscriber: Subscriber) -> None:
            raise Boom

    client = Client(app := make_app(Broken()))
    ws = await client.open()
    with pytest.raises(Boom):
        async with channel(ws, "room"):
            pytest.fail("joined")
    assert_empty(app)


async def test_a_broker_that_cannot_unsubscribe_is_logged(caplog):
    class Broken(MemoryBroker):
        async def unsubscribe(self, name: str, subscriber: Subscriber) -> None:
            raise Boom

    client = Client(make_app(Broken()))
    async with channel(await client.open(), "room"):
        pass
    assert "failed to unsubscribe from 'room'" in caplog.text


async def test_a_broker_that_hangs_cannot_hold_a_block_for_long(autojump_clock: MockClock, caplog):
    class Hanging(MemoryBroker):
        async def unsubscribe(self, name: str, subscriber: Subscriber) -> None:
            await trio.sleep_forever()

    client = Client(make_app(Hanging()))
    async with channel(await client.open(), "room"):
        pass
    assert trio.current_time() == 5
    assert "did not unsubscribe from 'room' in 5 s" in caplog.text


async def test_a_websocket_that_is_not_accepted_is_rejected():
    client = Client(make_app())
    with pytest.raises(WebSocketNotAccepted, match=r"await ws\.accept\(\)"):
        async with channel(client.ws, "room"):
            pytest.fail("joined")


async def test_an_app_without_a_broker_is_rejected():
    client = Client(Starlette())
    ws = await client.open()
    with pytest.raises(BrokerMissing, match="broker="):
        async with channel(ws, "room"):
            pytest.fail("joined")


async def test_an_app_that_is_not_ours_gets_the_default_settings():
    app = Starlette()
    app.state.fx_broker = MemoryBroker()
    async with joined(app) as [(client, room)]:
        await room.publish("hello")
    assert client.received == ["hello"]


# --- custom brokers


class ListBroker:
    """The least that a broker needs: no presence, one list."""

    def __init__(self) -> None:
        self.subscribers: list[tuple[str, Subscriber]] = []

    async def subscribe(self, name: str, subscriber: Subscriber) -> None:
        self.subscribers.append((name, subscriber))

    async def unsubscribe(self, name: str, subscriber: Subscriber) -> None:
        self.subscribers.remove((name, subscriber))

    async def publish(self, name: str, message: Message) -> None:
        for subscribed, subscriber in self.subscribers:
            if subscribed == name:
                subscriber.deliver(message)


def test_what_has_the_three_operations_is_a_broker():
    assert isinstance(ListBroker(), Broker)
    assert isinstance(MemoryBroker(), Broker)
    assert not isinstance(object(), Broker)


async def test_a_custom_broker_carries_the_messages_of_a_channel(raw):
    broker = ListBroker()
    client = Client(Starlette(), raw=raw)
    async with channel(await client.open(), "room", broker=broker) as room:
        await room.publish({"a": 1})
        await broker.publish("room", "from elsewhere")
        await broker.publish("other", "not for us")
        await wait_all_tasks_blocked()
    assert client.received == ['{"a":1}', "from elsewhere"]
    assert broker.subscribers == []


async def test_a_custom_broker_is_used_instead_of_the_apps_own():
    app = make_app()
    client = Client(app)
    async with channel(await client.open(), "room", broker=ListBroker()):
        assert_empty(app)


async def test_a_custom_broker_that_floods_an_outbox_overflows_it():
    broker = ListBroker()
    client = Client(make_app(outbox=2))
    ws = await client.open()
    with pytest.raises(WebSocketDisconnect):
        async with channel(ws, "room", broker=broker) as room:
            for _ in range(3):
                await room.publish("hello")
            await trio.sleep_forever()
    assert client.closed == 1013
    assert broker.subscribers == []


async def test_presence_needs_a_broker_that_knows_its_members():
    client = Client(make_app())
    async with channel(await client.open(), "room", broker=ListBroker()) as room:
        with pytest.raises(PresenceUnavailable, match="ListBroker"):
            _ = room.subscribers
        with pytest.raises(PresenceUnavailable, match="ListBroker"):
            room.presence()


async def test_concurrent_sends_of_the_handler_and_the_channel_both_arrive():
    async with joined(make_app()) as [(client, room)]:
        ws: WebSocket = client.ws
        async with trio.open_nursery() as nursery:
            nursery.start_soon(room.publish, "from the channel")
            nursery.start_soon(ws.send_text, "from the handler")
        await wait_all_tasks_blocked()
        assert sorted(client.received) == ["from the channel", "from the handler"]
