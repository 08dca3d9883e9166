"""Members of a channel know who is there, and hear who comes and goes."""

from __future__ import annotations

import gc

import trio
from trio.testing import wait_all_tasks_blocked

from fxtrio.realtime import (
    Frame,
    Joined,
    Left,
    Member,
    MemoryBroker,
    Message,
    Missed,
    Notice,
    Resumed,
    Roster,
    channel,
)
from fxtrio.realtime.broker import PresenceListeners
from fxtrio.realtime.presence import CAPACITY, ChannelEvents, PresenceEvents
from tests.realtime.client import Client, make_app

ANN, BOB = Member("1", "ann"), Member("2", "bob")


async def test_subscribers_are_all_members_in_the_order_they_joined():
    app = make_app()
    one, two = await Client(app).open(), await Client(app).open()
    async with channel(one, "room", member={"name": "ann"}) as first:
        async with channel(two, "room", member={"name": "bob"}) as second:
            assert (
                list(first.subscribers) == list(second.subscribers) == [first.member, second.member]
            )
            assert [member.info["name"] for member in first.subscribers] == ["ann", "bob"]
        assert list(first.subscribers) == [first.member]


async def test_members_of_other_channels_are_not_among_them():
    app = make_app()
    one, two = await Client(app).open(), await Client(app).open()
    async with channel(one, "one") as first, channel(two, "two"):
        assert len(first.subscribers) == 1


async def test_members_hear_of_others_that_join_and_leave_but_not_of_themselves():
    app = make_app()
    one, two = await Client(app).open(), await Client(app).open()
    async with channel(one, "room") as first:
        news = first.presence()
        async with channel(two, "room", member="bob") as second:
            assert await anext(news) == Joined(second.member)
        assert await anext(news) == Left(second.member)
    assert [event async for event in news] == []


async def test_a_member_whose_connection_breaks_has_left():
    app = make_app()
    client = Client(app)
    one, two = await Client(app).open(), await client.open()
    async with channel(one, "room") as first, channel(two, "room") as second:
        news = first.presence()
        client.break_off()
        await first.publish("hello")
        assert await anext(news) == Left(second.member)


async def test_every_reader_gets_the_news():
    app = make_app()
    one, two = await Client(app).open(), await Client(app).open()
    async with channel(one, "room") as first:
        readers = [first.presence(), first.presence()]
        async with channel(two, "room") as second:
            assert [await anext(news) for news in readers] == [Joined(second.member)] * 2


async def test_readers_end_with_the_block():
    heard: list[object] = []

    async def read(news: PresenceEvents) -> None:
        heard.extend([event async for event in news])
        heard.append("ended")

    async with trio.open_nursery() as nursery:
        async with channel(await Client(make_app()).open(), "room") as room:
            nursery.start_soon(read, room.presence())
            await wait_all_tasks_blocked()
    assert heard == ["ended"]


async def test_a_slow_reader_gets_a_roster_instead_of_what_it_missed():
    present = [ANN]
    news = PresenceEvents(lambda: tuple(present), capacity=3)
    for _ in range(4):
        news.offer(Joined(BOB))
    present.append(BOB)
    news.offer(Left(ANN))
    assert await anext(news) == Roster((ANN, BOB))
    news.offer(Left(BOB))
    assert await anext(news) == Left(BOB)


async def test_the_news_that_wait_for_a_reader_are_bounded():
    app = make_app()
    one, two = await Client(app).open(), await Client(app).open()
    async with channel(one, "room") as first:
        news = first.presence()
        for _ in range(CAPACITY):
            async with channel(two, "room"):
                pass
        assert await anext(news) == Roster((first.member,))


class CountingSubscriber:
    """A `Subscriber` of a broker's own, without the methods of `LazyListener`."""

    idle = True

    def __init__(self) -> None:
        self.member = Member()
        self.noticed: list[Notice] = []

    def deliver(self, message: Message | Frame) -> None:
        """Ignore messages."""

    def offer(self, frame: Frame, *, urgent: bool = False) -> bool:
        return True

    async def make_room(self, patience: float) -> bool:
        return True

    def notice(self, event: Notice) -> None:
        self.noticed.append(event)


class UnwatchedSubscriber(CountingSubscriber):
    """One that nothing reads presence events of."""

    def register(self, listeners: PresenceListeners) -> None:
        """Enter nothing."""

    def unregister(self, listeners: PresenceListeners) -> None:
        """Enter nothing."""


async def test_joins_and_leaves_visit_no_subscriber_that_nobody_watches():
    broker = MemoryBroker()
    others = [UnwatchedSubscriber() for _ in range(100)]
    for other in others:
        await broker.subscribe("room", other)
    for other in others:
        await broker.unsubscribe("room", other)
    assert [other.noticed for other in others] == [[]] * 100


async def test_a_subscriber_without_a_say_hears_of_all_members():
    broker = MemoryBroker()
    one, two = CountingSubscriber(), UnwatchedSubscriber()
    await broker.subscribe("room", one)
    await broker.subscribe("room", two)
    await broker.unsubscribe("room", two)
    assert one.noticed == [Joined(two.member), Left(two.member)]
    await broker.unsubscribe("room", one)
    await broker.subscribe("room", two)
    assert len(one.noticed) == 2


async def test_a_reader_that_comes_again_after_the_first_was_dropped_hears_of_members():
    app = make_app()
    one, two = await Client(app).open(), await Client(app).open()
    async with channel(one, "room") as first:
        first.presence()
        gc.collect()
        async with channel(two, "room"):
            pass
        news = first.presence()
        async with channel(two, "room") as second:
            assert await anext(news) == Joined(second.member)


async def test_an_outbox_that_has_left_hears_of_no_member_any_more():
    app = make_app()
    one, two = await Client(app).open(), await Client(app).open()
    async with channel(two, "room"):
        async with channel(one, "room") as first:
            outbox = first._outbox
        events = outbox.watch(ChannelEvents(tuple))
        async with channel(await Client(app).open(), "room"):
            pass
    assert [event async for event in events] == []


async def test_a_reader_that_is_cancelled_loses_nothing():
    news = PresenceEvents(tuple)
    with trio.move_on_after(0):
        await anext(news)
    news.offer(Joined(ANN))
    assert await anext(news) == Joined(ANN)


def test_every_member_has_an_id_of_its_own():
    assert len({Member().id for _ in range(100)}) == 100


async def test_iterators_that_nobody_has_any_more_cost_nothing():
    app = make_app()
    one, two = await Client(app).open(), await Client(app).open()
    async with channel(one, "room") as first:
        events = first.events()
        for _ in range(1000):
            first.presence()
            first.events()
        gc.collect()
        assert len(first._outbox._watchers) == 1
        async with channel(two, "room") as second:
            assert await anext(events) == Joined(second.member)


async def test_events_report_lost_messages_between_the_members_and_presence_does_not():
    app = make_app()
    one, two = await Client(app).open(), await Client(app).open()
    async with channel(one, "room") as first:
        events, presence = first.events(), first.presence()
        first._outbox.notice(Missed(2))
        first._outbox.notice(Missed(3))
        first._outbox.notice(Resumed())
        async with channel(two, "room") as second:
            first._outbox.notice(Missed())
            assert await anext(events) == Missed(5)
            assert await anext(events) == Joined(second.member)
            assert await anext(events) == Missed(None)
            assert await anext(presence) == Joined(second.member)
    assert [event async for event in events] == [Left(second.member)]
    assert [event async for event in presence] == [Left(second.member)]


async def test_a_reader_too_slow_for_single_events_still_learns_that_messages_were_lost():
    events = ChannelEvents(lambda: (ANN,), capacity=2)
    for event in (Missed(1), Joined(ANN), Missed(2), Joined(BOB), Missed(4), Left(BOB)):
        events.offer(event)
    assert await anext(events) == Missed(7)
    assert await anext(events) == Roster((ANN,))
    events.offer(Left(ANN))
    assert await anext(events) == Left(ANN)


async def test_events_need_no_broker_that_knows_who_is_there():
    client = Client(make_app(Plain()))
    async with channel(await client.open(), "room") as room:
        events = room.events()
        room._outbox.notice(Missed())
        assert await anext(events) == Missed()


class Plain:
    """A broker without presence."""

    async def subscribe(self, name, subscriber): ...

    async def unsubscribe(self, name, subscriber): ...

    async def publish(self, name, message): ...
