"""Defects that are planted in an app of their own are found, shortened, and seen again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from fx.testing import Faults, World, simulate
from fxtrio.simulation.engine.rejections import NotSimulated
from fxtrio.simulation.engine.strategies import StrategyName
from fxtrio.simulation.faults import NO_FAULTS
from fxtrio.simulation.servers.prepared_app import SettingNotSimulated
from fxtrio.simulation.simulate import Seeds

APPS = Path(__file__).parent / "apps"


def failure_of(test: Callable[..., None]) -> BaseException:
    """Return what a simulated test fails with, as pytest would show it."""
    with pytest.raises(AssertionError) as caught:
        test(Seeds())
    return caught.value


def seed_in(error: BaseException) -> int:
    """Return the seed that a failure says to run again."""
    [note] = error.__notes__
    return int(note.partition("--fx-seed ")[2].split()[0])


def require_same_again(
    decorate: Callable[[Callable[..., Awaitable[object]]], Callable[..., None]],
    scenario: Callable[..., Awaitable[object]],
) -> str:
    """Run a test until it fails, and its seed alone; return the note of both."""
    first = failure_of(decorate(scenario))
    with pytest.raises(AssertionError) as caught:
        decorate(scenario)(Seeds(only=seed_in(first)))
    assert caught.value.__notes__ == first.__notes__
    return str(first.__notes__[0])


async def lose_an_update(world: World) -> None:
    async def pay(amount: int) -> None:
        await world.client().action("/", "pay", {"amount": amount})

    async with world.visitors() as visitors:
        for _ in range(6):
            visitors.start_soon(pay, world.random.randrange(1, 60))
    balance = (await world.client().load_page("/")).data["balance"]
    assert balance["a"] + balance["b"] == 100


@pytest.mark.parametrize("strategy", ["random", "pct"])
def test_a_lost_update_is_shortened_to_two_payments(strategy: StrategyName) -> None:
    decorate = simulate(APPS / "bank", faults=NO_FAULTS, strategy=strategy)
    note = require_same_again(decorate, lose_an_update)
    assert "from 6 visitors" in note
    assert "to 2, 0 and" in note
    assert "pages/index.fxl:7 read" in note
    assert "s  the test: " in note
    assert "-k lose_an_update" in note


async def book_twice(world: World) -> None:
    async def book(who: str) -> None:
        await world.client().action("/", "in_two_steps", {"who": who})

    async with world.visitors() as visitors:
        for who in ("Ada", "Bob", "Cleo"):
            visitors.start_soon(book, who)
    assert len((await world.client().load_page("/")).data["bookings"]) <= 1


def test_a_slot_that_is_booked_twice_is_found_in_the_database() -> None:
    note = require_same_again(simulate(APPS / "booking", faults=NO_FAULTS), book_twice)
    assert "to 2, 0 and" in note


async def leave_a_listener_behind(world: World) -> None:
    async def listen() -> None:
        async with world.client().websocket("/"):
            await trio.sleep(1)

    async with world.visitors() as visitors:
        for _ in range(3):
            visitors.start_soon(listen)
    await trio.sleep(60)
    assert (await world.client().load_page("/")).data["listeners"] == 0


def test_a_listener_that_stays_when_its_reader_leaves_is_found() -> None:
    decorate = simulate(APPS / "hub", faults=Faults(leave=0.5, kill=0, shutdown=0))
    note = require_same_again(decorate, leave_a_listener_behind)
    assert "left" in note


async def get_a_message_after_leaving(world: World) -> None:
    async def come_and_go() -> None:
        async with world.client().websocket("/topic") as socket:
            await socket.receive()
            await socket.send_text("leave")
            while await socket.receive() != "left":
                pass
            with trio.move_on_after(5):
                message = await socket.receive()
                raise AssertionError(f"{message!r} came after 'left'.")

    async def publish() -> None:
        for _ in range(3):
            await world.client().action("/topic", "publish")

    async with world.visitors() as visitors:
        for _ in range(3):
            visitors.start_soon(come_and_go)
        visitors.start_soon(publish)


@pytest.mark.parametrize("strategy", ["random", "pct"])
def test_a_message_after_the_end_of_a_subscription_is_found(strategy: StrategyName) -> None:
    decorate = simulate(APPS / "hub", faults=NO_FAULTS, strategy=strategy)
    note = require_same_again(decorate, get_a_message_after_leaving)
    assert "from 4 visitors" in note
    assert "to 2, 0 and" in note
    assert "pages/topic.fxl:" in note


async def send_once(world: World) -> None:
    async def book(who: str) -> None:
        await world.client().action("/", "at_once", {"who": who})
        await trio.sleep(5)  # in which the job runs

    async with world.visitors() as visitors:
        visitors.start_soon(book, "Ada")
    await trio.sleep(60)
    assert len((await world.client().load_page("/")).data["mails"]) <= 1


def test_a_job_that_runs_twice_after_a_crash_is_found() -> None:
    only_kills = Faults(leave=0, slow_reader=0, slow_call=0, kill=1, shutdown=0, jump=0)
    note = require_same_again(simulate(APPS / "booking", seeds=100, faults=only_kills), send_once)
    assert "the process was killed" in note


async def leave_a_task(world: World) -> None:
    await world.client().action("/", "leave_a_task")


def test_a_task_that_outlives_its_app_is_found() -> None:
    error = failure_of(simulate(APPS / "hub")(leave_a_task))
    assert "sleep_forever is still running after the shutdown" in str(error)


async def start_a_process(world: World) -> None:
    await world.client().action("/", "start_a_process")


@pytest.mark.own_interpreter  # the place is that which calls `subprocess`
def test_a_process_that_is_started_is_rejected_even_if_the_app_hides_it() -> None:
    with pytest.raises(NotSimulated, match=r"hub/pages/index\.fxl:\d+: a process is started"):
        simulate(APPS / "hub")(start_a_process)(Seeds())


async def use_asyncio(world: World) -> None:
    await world.client().action("/", "use_asyncio")


def test_asyncio_is_rejected_since_its_loop_is_a_thread() -> None:
    with pytest.raises(NotSimulated, match=r"hub/pages/index\.fxl:\d+: a thread is started"):
        simulate(APPS / "hub")(use_asyncio)()


@pytest.mark.parametrize(
    "settings",
    [
        {"database": {"url": "postgresql://localhost/shop"}},
        {"realtime": {"broker": "redis://localhost"}},
        {
            "rate_limit_storage": "redis://localhost",
            "rate_limits": [{"route": "/", "limit": "5/minute"}],
        },
    ],
)
def test_settings_that_name_a_server_are_rejected(settings: Any) -> None:
    with pytest.raises(SettingNotSimulated, match="Pass "):
        simulate(APPS / "hub", **settings)(leave_a_task)(Seeds())


async def wait_for_ever(world: World) -> None:
    await trio.sleep_forever()


def test_a_test_that_waits_forever_ends() -> None:
    with pytest.raises(trio.TooSlowError):
        simulate(APPS / "bank")(wait_for_ever)(Seeds())
