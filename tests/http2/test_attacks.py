"""Attacks on HTTP/2, one after the other on one process, which shows no trace of them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
import trio

from .attacks import PATIENT, QUICK, Attack
from .client import PATIENCE
from .servers import Kind, Target, target

MEMORY = 150_000_000
"""Bytes by which a process may grow; seven answers of 10 MB are among what is asked for."""


async def attack(server: Target, *attacks: Attack) -> None:
    """Make attacks at the same time, and wait until nothing is left of them."""
    before = await server.state()
    wanted: list[str] = []

    async def make(one: Attack) -> None:
        wanted.extend(await one(server) or ())

    with trio.fail_after(2 * PATIENCE):
        async with trio.open_nursery() as bystanders:
            over = trio.Event()
            bystanders.start_soon(_stay_served, server, over)
            async with trio.open_nursery() as nursery:
                for one in attacks:
                    nursery.start_soon(make, one)
            over.set()
    events: list[str] = []
    with trio.fail_after(PATIENCE):
        while True:
            after = await server.state()
            events += [line for line in after["events"] if line != "slow began"]
            released = after["files"] <= before["files"] and after["tasks"] <= before["tasks"]
            missing, others = _compare(wanted, events)
            if released and not missing:
                break
            await trio.sleep(0.01)
    # Bodies that were cut off are recorded too: what must be recorded is what counts.
    assert set(others) <= {"left in the body"}
    assert after["bytes"] < before["bytes"] + MEMORY
    assert server.process.returncode is None


def _compare(wanted: Iterable[str], events: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the events that are missing, and those that are there besides."""
    missing, others = [], list(events)
    for line in sorted(wanted, key=len, reverse=True):  # one may begin like another
        found = [candidate for candidate in others if candidate.startswith(line)]
        if found:
            others.remove(found[0])
        else:
            missing.append(line)
    return missing, others


async def _stay_served(server: Target, over: trio.Event) -> None:
    while not over.is_set():
        began = trio.current_time()
        assert await server.get() == b"fine"
        assert trio.current_time() - began < 2
        with trio.move_on_after(0.05):
            await over.wait()


@pytest.mark.parametrize(
    ("kind", "secure"), [("fx", True), pytest.param("stock", False, marks=pytest.mark.nightly)]
)
async def test_attacks_leave_no_trace(kind: Kind, secure: bool) -> None:
    async with target(kind, secure=secure) as server:
        for name, one in QUICK.items():
            size = len(server.log)
            print(name)  # pytest shows the last one when the test fails
            await attack(server, one)
            failed = name == "failing_applications"
            logged = server.log[size:]
            assert ("Traceback" in logged or "[ERROR]" in logged) is failed, name
        await attack(server, *PATIENT.values())
        assert "Traceback" not in server.log[size:]
        with trio.fail_after(PATIENCE):
            assert await server.stop() in (0, -15)
