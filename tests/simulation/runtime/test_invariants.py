"""What the runtime promises: background jobs, transactions, messages, and streams.

`fxtrio.simulation.checks` looks at the end of each seed for tasks, connections, subscriptions, jobs
and transactions that are left or lost.
"""

from __future__ import annotations

from math import inf
from pathlib import Path

import attrs
import trio

from fx.testing import ConnectionLost, Faults, World, simulate
from fxtrio.simulation.faults import NO_FAULTS
from fxtrio.testing.responses import AnswerUnreadable
from tests.simulation.runtime import SEEDS, turned_away

APPS = Path(__file__).parents[1] / "apps"
COUNTER, LIMITS, MESSAGES = APPS / "counter", APPS / "limits", APPS / "messages"

FAULTS = Faults(kill=0.3, shutdown=0.3)


async def data(world: World) -> dict[str, object]:
    """Return what the loader of the first page gives."""
    return (await world.client().load_page("/")).data


@simulate(LIMITS, seeds=SEEDS, faults=Faults(kill=0, shutdown=0.5))
async def test_jobs_that_were_accepted_run_or_are_named(world: World) -> None:
    async def begin(seconds: int) -> None:
        result = await world.client().action("/", "begin", {"value": seconds})
        assert result.status in {200, 503}

    async with world.visitors() as visitors:
        for _ in range(8):
            visitors.start_soon(begin, world.random.randrange(12))


@simulate(COUNTER, seeds=SEEDS, also=[1446], faults=FAULTS)
async def test_acknowledged_transactions_are_in_the_database(world: World) -> None:
    acknowledged: list[int] = []
    attempted: list[int] = []

    async def add(value: int) -> None:
        attempted.append(max(value, 0))
        result = await world.client().action("/", "add", {"value": value})
        assert result.ok == (value >= 0) or result.status >= 500
        if result.ok:
            acknowledged.append(value)

    async with world.visitors() as visitors:
        for _ in range(5):
            visitors.start_soon(add, world.random.randrange(-3, 10))
    await trio.sleep(60)  # until slow calls have returned
    counter = (await data(world))["counter"]
    assert isinstance(counter, int)
    assert sum(acknowledged) <= counter <= sum(attempted)


@simulate(MESSAGES, seeds=SEEDS, faults=Faults(kill=0, shutdown=0))
async def test_members_get_what_was_published_while_they_were_there_in_order(world: World) -> None:
    sent: list[int] = []

    async def listen() -> None:
        async with world.client().websocket("/") as socket:
            got: list[int] = []
            sent_before = None
            with trio.move_on_after(300):
                while got[-1:] != [9]:
                    message = await socket.receive_json()
                    if "number" in message:
                        got.append(message["number"])
                    else:  # a member from now on
                        sent_before = len(sent)
            assert got == sorted(set(got))
            if sent_before is not None and sent_before < 10:
                assert got[-1:] == [9]
                assert set(range(sent_before, 10)) <= set(got)

    async def publish() -> None:
        for number in range(10):
            sent.append(number)
            await world.client().action("/", "send_news", {"value": number})
            await trio.sleep(world.random.random())

    async with world.visitors() as visitors:
        for _ in range(3):
            visitors.start_soon(listen)
        await publish()


@simulate(LIMITS, seeds=SEEDS, also=[1430, 300_010, 311_916], faults=FAULTS)
async def test_streams_end_with_their_readers(world: World) -> None:
    faults = world._plan.happened

    async def read() -> None:
        call = world.client().stream_action("/", "count", {"value": 8})
        got: list[int] = []
        last = inf
        try:
            async with call as values:
                async for value in values:
                    got.append(value["value"])
                    last = trio.current_time()
        except ConnectionLost:  # its process has ended
            assert got == list(range(len(got)))
        except AnswerUnreadable as error:  # its process is shut down, and begins nothing
            assert (error.status, got) == (503, [])
        else:  # a shutdown ends it with an error
            assert values.end is not None
            assert got == list(range(8 if values.end["ok"] else len(got)))
            if all(name.startswith("leave") for name in faults):  # nothing was slow
                assert trio.current_time() - last < 5

    async with world.visitors() as visitors:
        for _ in range(4):
            visitors.start_soon(read)
    await trio.sleep(60)
    assert (await data(world))["streams"] == 0


@simulate(LIMITS, seeds=SEEDS, faults=Faults(slow_reader=0.5, kill=0, shutdown=0))
async def test_a_value_that_a_generator_yields_after_its_close_is_not_sent(world: World) -> None:
    async def read() -> None:
        got: list[int] = []
        abandoned: list[int] = []
        async with world.client().stream_action("/", "count_in_time", {"value": 12}) as values:
            async for one in values:
                got.append(one["value"])
                abandoned = one["given_up"]
        assert not set(got) & set(abandoned)

    async with world.visitors() as visitors:
        for _ in range(3):
            visitors.start_soon(read)


ENDING = Faults(kill=0.2, shutdown=0.2, leave=0)


@simulate(MESSAGES, seeds=SEEDS, also=[230, 489, 611_073], processes=2, faults=ENDING)
async def test_messages_reach_the_members_of_both_processes_in_order(world: World) -> None:
    async def listen() -> None:
        got: list[int] = []
        joined = stayed = False
        with turned_away():
            async with world.client().websocket("/") as socket:
                with trio.move_on_after(30):
                    while True:
                        message = await socket.receive_json()
                        if "number" in message:  # which may come before the greeting
                            got.append(message["number"])
                        else:
                            joined = True
            stayed = True
        assert stayed or not joined
        assert got == sorted(set(got))

    async def publish() -> None:
        for number in range(8):
            await world.client().action("/", "send_news", {"value": number})
            await trio.sleep(world.random.random())

    async with world.visitors() as visitors:
        for _ in range(3):
            visitors.start_soon(listen)
        visitors.start_soon(publish)


ONLY_ORDER = attrs.evolve(NO_FAULTS, leave=0.2)


@simulate(COUNTER, seeds=SEEDS, faults=ONLY_ORDER)
async def test_each_transaction_has_its_turn(world: World) -> None:
    async def add() -> None:
        assert (await world.client().action("/", "add", {"value": 1})).status == 200

    async with world.visitors() as visitors:
        for _ in range(6):
            visitors.start_soon(add)
    assert world.clock.monotonic() < 10  # nobody had to wait for a timeout


@simulate(MESSAGES, seeds=SEEDS, faults=ONLY_ORDER)
async def test_a_member_that_leaves_waits_for_nothing(world: World) -> None:
    async def come_and_go() -> None:
        async with world.client().websocket("/") as socket:
            await socket.receive_json()
            began = world.clock.monotonic()
            await socket.send_text("leave")
            while "left" not in await socket.receive_json():
                pass
            assert world.clock.monotonic() - began < 1

    async with world.visitors() as visitors:
        for _ in range(3):
            visitors.start_soon(come_and_go)
        for number in range(3):
            await world.client().action("/", "send_news", {"value": number})


@simulate(COUNTER, seeds=SEEDS, faults=Faults(kill=0, shutdown=0, jump=0, slow_task=0))
async def test_transactions_wait_for_each_other(world: World) -> None:
    sizes: list[int] = []

    async def add(value: int) -> None:
        result = await world.client().action("/", "add", {"value": value})
        assert result.status in (200, 504)  # slow calls in turn may take longer than the timeout
        if result.status == 200:
            sizes.append(value)

    async with world.visitors() as visitors:
        for _ in range(5):
            visitors.start_soon(add, world.random.randrange(10))
    await trio.sleep(60)  # until slow calls have returned
    counter = (await data(world))["counter"]
    assert isinstance(counter, int)
    assert counter >= sum(sizes)
