"""Orders to the process that serves for `fx dev`, which may die, hang or be slow."""

from __future__ import annotations

import msgspec
import pytest
import trio
from trio.testing import MockClock, memory_stream_one_way_pair

from fxtrio.develop.processes.messages import Swap, Swapped
from fxtrio.develop.processes.server_child import Served


def served_by() -> tuple[Served, trio.abc.SendStream, trio.MemorySendChannel[Swapped]]:
    orders, _ = memory_stream_one_way_pair()
    send, receive = trio.open_memory_channel[Swapped](1)
    served = Served()
    served.take_orders(orders, receive)
    return served, orders, send


async def test_an_order_while_the_process_is_put_away_asks_for_another_one() -> None:
    served, orders, _ = served_by()
    served.started.set()
    await trio.aclose_forcefully(orders)
    assert (await served.swap(Swap())).restart == "the app has stopped"
    assert not served.hung


@pytest.mark.parametrize(("starts", "begins"), [(False, False), (True, False), (True, True)])
async def test_a_process_that_does_not_answer_is_replaced(
    starts: bool, begins: bool, autojump_clock: MockClock
) -> None:
    served, _, send = served_by()
    if starts:
        served.started.set()
    if begins:
        await send.send(Swapped(begun=True))
    assert (await served.swap(Swap())).restart == "the app does not answer"
    assert served.hung
    assert trio.current_time() == (2 if starts and not begins else 20)


async def test_a_process_that_is_slow_to_start_is_waited_for(autojump_clock: MockClock) -> None:
    served, _, send = served_by()
    async with trio.open_nursery() as nursery:

        async def start() -> None:
            await trio.sleep(15)
            served.started.set()
            await send.send(Swapped(begun=True))
            await send.send(Swapped(modules=3))

        nursery.start_soon(start)
        assert (await served.swap(Swap())).modules == 3
    assert not served.hung


async def test_code_that_is_slow_to_run_is_waited_for(autojump_clock: MockClock) -> None:
    served, _, send = served_by()
    served.started.set()
    async with trio.open_nursery() as nursery:

        async def answer() -> None:
            await send.send(msgspec.json.decode(b'{"begun": true}', type=Swapped))
            await trio.sleep(15)
            await send.send(Swapped(modules=3))

        nursery.start_soon(answer)
        assert (await served.swap(Swap())).modules == 3
    assert not served.hung
