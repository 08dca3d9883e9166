"""Kills one of two workers under load, again and again, and counts what it costs.

``python -m tests.supervise.kills --number 24`` prints it; `test_many_clients.py` judges it.
"""

from __future__ import annotations

import argparse
import os
import signal
import time
from functools import partial

import attrs
import trio

from ..http1.support import Client
from .support import Running, serve

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
_TOGETHER = 25
"""Requests on one connection, before there is a new one."""


@attrs.define
class Costs:
    """What several clients saw while workers were killed."""

    kills: int = 0
    answered: int = 0
    connections: int = 0
    refused: int = 0
    """Connections that nobody took."""

    cut: int = 0
    """Connections that broke off with the worker that had answered on them, or had not yet."""

    lost: list[str] = attrs.field(factory=list)
    """What went wrong on connections of a worker that was not killed: nothing may."""

    seconds: list[float] = attrs.field(factory=list)
    """From each kill until there were two workers that serve."""


async def kill_workers(number: int, *, clients: int = 6) -> Costs:
    """Serve with two workers, and kill ``number`` times the one that is older."""
    costs = Costs()
    killed: set[int] = set()
    async with serve(workers=2) as running, trio.open_nursery() as nursery:
        for _ in range(clients):
            nursery.start_soon(_ask, running, costs, killed)
        first, second = running.workers()
        for _ in range(number):
            await _wait_for_answers(costs, 50)
            began = time.monotonic()
            killed.add(first)
            os.kill(first, signal.SIGKILL)
            costs.kills += 1
            await running.wait_for("was ended by SIGKILL", costs.kills)
            await running.wait_for("Running on", 2 + costs.kills)
            costs.seconds.append(time.monotonic() - began)
            (successor,) = set(running.workers()) - {second}
            first, second = second, successor
        await _wait_for_answers(costs, 50)
        nursery.cancel_scope.cancel()
    return costs


async def _wait_for_answers(costs: Costs, number: int) -> None:
    """Wait until the clients were answered so often."""
    enough = costs.answered + number
    with trio.fail_after(30):
        while costs.answered < enough:  # noqa: ASYNC110  # counters set no event
            await trio.sleep(0.005)


async def _ask(running: Running, costs: Costs, killed: set[int]) -> None:
    """Open connections and ask on them until cancelled."""
    while True:
        before = len(killed)
        try:
            client = await running.connect()
        except OSError:
            costs.refused += 1
            continue
        costs.connections += 1
        async with client:
            await _converse(client, costs, killed, before)


async def _converse(client: Client, costs: Costs, killed: set[int], before: int) -> None:
    owner = None  # whoever took the connection; only its answers tell
    try:
        for _ in range(_TOGETHER):
            await client.send(GET)
            reply = await client.reply()
            owner = int(reply.body)
            costs.answered += 1
            await trio.sleep(0.01)
    except (AssertionError, trio.BrokenResourceError, trio.TooSlowError) as error:
        if owner in killed or (owner is None and len(killed) > before):
            costs.cut += 1
        else:
            costs.lost.append(f"worker {owner}: {error!r}")


def main() -> None:
    """Print what it costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=24)
    costs = trio.run(partial(kill_workers, parser.parse_args().number))
    print(attrs.evolve(costs, seconds=[round(value, 2) for value in costs.seconds]))


if __name__ == "__main__":
    main()
