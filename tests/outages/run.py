"""Takes the store of a shared broker away while messages are published, and counts.

Sixty subscribers are in two processes; five publishers in this one send ten messages a
second each.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import attrs
import trio

from fxtrio.config import RealtimeConfig
from fxtrio.errors import BrokerUnreachable
from fxtrio.realtime import Broker
from fxtrio.realtime.open import open_broker
from tests.docs.pages import ROOT
from tests.outages.audience import CHANNEL
from tests.outages.judge import Heard, Verdict, judge
from tests.realtime.stores import Store

PROCESSES, SUBSCRIBERS = 2, 30
PUBLISHERS, RATE = 5, 10.0
"""Publishers, and messages a second of each."""

LIMIT = 60.0
"""How long everything may take to settle after an outage (seconds)."""


@attrs.frozen
class Outage:
    """What happens to a store, and for how long (seconds)."""

    kind: str
    """``kill``, ``cut`` or ``freeze``."""

    seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind} {self.seconds:g} s" if self.seconds else self.kind

    async def happen(self, store: Store) -> None:
        """Take the store away, and give it back."""
        ends: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {
            "kill": (store.kill, store.start),
            "freeze": (store.freeze, store.thaw),
            "cut": (store.cut, lambda: None),
        }
        begin, end = ends[self.kind]
        await trio.to_thread.run_sync(begin)
        await trio.sleep(self.seconds)
        await trio.to_thread.run_sync(end)


@attrs.frozen
class Report:
    """One outage, and what it cost."""

    outage: Outage
    published: int
    rejected: int
    """Messages whose publisher was told that they may be lost."""

    verdict: Verdict

    @property
    def good(self) -> bool:
        """Whether nothing was lost silently, doubled or out of order, and traffic went on."""
        cost = self.verdict
        return cost.received > 0 and not (cost.lost_silently or cost.doubled or cost.disordered)

    def __str__(self) -> str:
        figures = ", ".join(
            f"{key.replace('_', ' ')} {value}" for key, value in attrs.asdict(self.verdict).items()
        )
        return f"{self.outage!s:12} published {self.published}, refused {self.rejected}; {figures}"


async def run_outage(store: Store, outage: Outage, *, lead: float, tail: float) -> Report:
    """Publish for ``lead`` seconds, during the outage, and for ``tail`` seconds after it."""
    accepted: set[tuple[int, int]] = set()
    rejected = [0]
    stop = trio.Event()
    async with open_broker(RealtimeConfig(broker=store.url)) as broker:
        async with audience(store.url) as hear:
            async with trio.open_nursery() as nursery:
                for number in range(PUBLISHERS):
                    nursery.start_soon(_publish, broker, number, stop, accepted, rejected)
                await trio.sleep(lead)
                await outage.happen(store)
                await trio.sleep(tail)
                stop.set()
            heard = await _settled(broker, hear, accepted)
    verdict = sum((judge(accepted, one) for one in heard), Verdict(0, 0, 0, 0, 0, 0))
    return Report(outage, len(accepted) + rejected[0], rejected[0], verdict)


async def _publish(
    broker: Broker,
    publisher: int,
    stop: trio.Event,
    accepted: set[tuple[int, int]],
    rejected: list[int],
) -> None:
    number, due = 0, trio.current_time() + publisher / PUBLISHERS / RATE
    while not stop.is_set():
        with trio.move_on_at(due):
            await stop.wait()
        due += 1 / RATE
        try:
            await broker.publish(CHANNEL, [publisher, number])
        except BrokerUnreachable:
            rejected[0] += 1
        else:
            accepted.add((publisher, number))
        number += 1


async def _settled(
    broker: Broker,
    hear: Callable[[], object],
    accepted: set[tuple[int, int]],
) -> list[list[Heard]]:
    """Publish a last message until it has come through, and return what everybody heard."""
    with trio.fail_after(LIMIT):
        while True:
            try:
                await broker.publish(CHANNEL, [PUBLISHERS, 0])
                break
            except BrokerUnreachable:
                await trio.sleep(0.1)
    accepted.add((PUBLISHERS, 0))
    await trio.sleep(3)  # the longest pause of a link, and what it reads then
    heard: list[list[Heard]] = await hear()  # type: ignore[misc]
    return heard


@asynccontextmanager
async def audience(url: str) -> AsyncIterator[Callable[[], object]]:
    """Run the processes of subscribers; yield what returns all that they have heard."""
    command = [sys.executable, "-m", "tests.outages.audience", url, str(SUBSCRIBERS)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    start = partial(trio.lowlevel.open_process, command, cwd=ROOT, **pipes)
    processes = [await start() for _ in range(PROCESSES)]
    try:
        for process in processes:
            with trio.fail_after(LIMIT):
                assert process.stdout is not None
                assert (await process.stdout.receive_some()).startswith(b"joined")
        yield partial(_hear, processes)
    finally:
        with trio.CancelScope(shield=True):
            for process in processes:
                process.kill()
                await process.wait()


async def _hear(processes: list[trio.Process]) -> list[list[Heard]]:
    heard: list[list[Heard]] = []
    for process in processes:
        assert process.stdin is not None
        assert process.stdout is not None
        await process.stdin.aclose()
        text = b""
        with trio.fail_after(LIMIT):
            async for data in process.stdout:
                text += data
        for line in text.split(b"\n"):
            if line.startswith(b"["):
                heard.append(
                    [None if one is None else (one[0], one[1]) for one in json.loads(line)]
                )
    assert len(heard) == PROCESSES * SUBSCRIBERS
    return heard
