"""Channels: slow readers, members that join and leave, and messages between two processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import trio

from fx.testing import Faults, World, simulate
from fxtrio.simulation.faults import NO_FAULTS
from fxtrio.testing.socket import SocketClosed
from tests.simulation.runtime import PATIENT, SEEDS, turned_away

ROOT = Path(__file__).parents[1] / "apps" / "messages"

BURSTS, COUNT = 4, 10
SLOW = Faults(slow_reader=0.5, kill=0, shutdown=0)
SMALL: Any = {"outbox": 4}


@simulate(ROOT, seeds=SEEDS, faults=SLOW, realtime=SMALL)
async def test_a_slow_reader_misses_nothing_or_is_closed_with_1013(world: World) -> None:
    last = BURSTS * COUNT - 1
    begun = 0

    async def listen() -> None:
        got: list[int] = []
        joined_before: int | None = None
        try:
            async with world.client().websocket("/burst") as socket:
                with trio.move_on_after(600):
                    while got[-1:] != [last]:
                        message = await socket.receive_json()
                        if "number" in message:
                            got.append(message["number"])
                        else:  # a member from now on
                            joined_before = begun
        except SocketClosed as closed:
            assert closed.code in {1013, 1006}  # it may not even read the end
        else:
            assert joined_before in {None, BURSTS} or got[-1:] == [last]
        assert not got or got == list(range(got[0], got[0] + len(got)))
        if joined_before is not None and got:
            assert got[0] <= joined_before * COUNT

    async with world.visitors() as visitors:
        for _ in range(3):
            visitors.start_soon(listen)
        await trio.sleep(1)
        for number in range(BURSTS):
            begun += 1
            burst = {"start": number * COUNT, "count": COUNT}
            await world.client().action("/burst", "burst", burst)


ONLY_MESSAGES = Faults(kill=0, shutdown=0, leave=0, slow_reader=0, store=0.5)


@simulate(ROOT, seeds=SEEDS, also=[1896], processes=2, faults=ONLY_MESSAGES)
async def test_no_message_is_lost_between_processes_that_are_cut_off(world: World) -> None:
    sent: list[int] = []
    failed: set[int] = set()  # which may have been sent, or not

    async def listen() -> None:
        got: list[int] = []
        sent_before = None
        try:
            async with world.client().websocket("/") as socket:
                with trio.move_on_after(300):
                    while got[-1:] != [7]:
                        message = await socket.receive_json()
                        if "number" in message:
                            got.append(message["number"])
                        else:  # a member from now on
                            sent_before = len(sent)
        except SocketClosed as closed:  # it came while the store could not be reached
            assert closed.code == 1013
            assert sent_before is None
        assert got == sorted(set(got))
        if sent_before is not None:
            assert set(range(sent_before, 8)) - failed <= set(got)

    async with world.visitors() as visitors:
        for _ in range(3):
            visitors.start_soon(listen)
        for number in range(8):
            sent.append(number)
            result = await world.client().action("/", "send_news", {"value": number})
            failed |= set() if result.ok else {number}
            await trio.sleep(2 * world.random.random())


@simulate(ROOT, seeds=SEEDS, processes=2, faults=SLOW, realtime=SMALL)
async def test_slow_readers_of_two_processes_get_messages_in_order(world: World) -> None:
    async def listen() -> None:
        got: list[int] = []
        try:
            async with world.client().websocket("/burst") as socket:
                with trio.move_on_after(120):
                    while True:
                        message = await socket.receive_json()
                        if "number" in message:
                            got.append(message["number"])
        except SocketClosed as closed:
            assert closed.code in {1013, 1006}  # it may not even read the end
        assert got == sorted(set(got))

    async with world.visitors() as visitors:
        for _ in range(3):
            visitors.start_soon(listen)
        await trio.sleep(1)
        for number in range(BURSTS):
            burst = {"start": number * COUNT, "count": COUNT}
            await world.client().action("/burst", "burst", burst)


async def members_seen(world: World, name: str) -> list[str]:
    """Join a room, and return who is there as one of the processes sees it."""
    async with world.client().websocket(f"/room?name={name}") as socket:
        await socket.receive_json()
        await socket.send_text("who")
        members: list[str] = (await socket.receive_json())["members"]
        return members


ENDING = Faults(kill=0.3, shutdown=0.2)
LEASE = 150
"""After how long nobody sees members of a process that was killed (seconds)."""


@simulate(ROOT, seeds=SEEDS, processes=2, faults=attrs.evolve(NO_FAULTS, kill=0.9))
async def test_members_of_a_killed_process_leave_a_channel_that_continues(world: World) -> None:
    async def keep() -> None:
        async with world.client().websocket("/room?name=keeper") as socket:
            await socket.receive_json()
            await trio.sleep(LEASE)
            await socket.send_text("who")
            assert (await socket.receive_json())["members"] == ["keeper"]

    async def visit() -> None:
        async with world.client().websocket("/room?name=visitor") as socket:
            await socket.receive_json()
            await trio.sleep(10)

    async with world.visitors() as visitors:
        visitors.start_soon(keep)
        for _ in range(3):
            visitors.start_soon(visit)


@simulate(ROOT, seeds=SEEDS, also=[327, 604, 1076, 310_581, 611_073], processes=2, faults=ENDING)
async def test_processes_agree_on_who_is_there(world: World) -> None:
    async def stay(name: str, seconds: int) -> None:
        async with world.client().websocket(f"/room?name={name}") as socket:
            await socket.receive_json()
            await trio.sleep(seconds)

    async def visit(name: str) -> None:
        with turned_away():
            await stay(name, world.random.randrange(20))

    async with world.visitors() as visitors:
        for number in range(4):
            visitors.start_soon(visit, f"visitor {number}")
    patient = world.random.random() < PATIENT
    killed = any(name.startswith("kill") for name in world._plan.happened)
    # Members of a killed process are forgotten late; those of others have left, which a store
    # that was cut off may learn only then.
    await trio.sleep(180 if killed or patient else 60)
    async with trio.open_nursery() as nursery:
        for number in range(3):
            nursery.start_soon(stay, f"guest {number}", 120)
        await trio.sleep(60)
        for _ in range(3):
            found = await members_seen(world, "me")
            assert found == ["guest 0", "guest 1", "guest 2", "me"]
        nursery.cancel_scope.cancel()
