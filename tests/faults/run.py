"""One fault: money moves before, during and after it, and the promises are judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from functools import reduce
from pathlib import Path

import attrs
import trio

from tests.faults.bank import ACCOUNTS, CENTS
from tests.faults.judge import RECOVERY, Answers, judge
from tests.faults.world import Bank, Engine, Pooler, move_money, open_bank, read_ledger

CLIENTS = 8
LIMIT = 300.0


@attrs.frozen
class Fault:
    """What happens to the bank. ``befall`` returns when it is over."""

    name: str
    befall: Callable[[Bank], Awaitable[None]]
    engines: tuple[Engine, ...] = ("postgresql", "sqlite")
    pooler: Pooler = ""
    """What stands before PostgreSQL all the time: the mode of a pgbouncer."""

    stock: bool = False
    """Whether Hypercorn itself serves, and not ``fx serve``."""


@attrs.frozen
class Report:
    """One run, and what it cost."""

    fault: str
    engine: Engine
    acknowledged: int
    rejected: Counter[int]
    unknown: int
    back_after: float
    """From the end of the fault until each client had a transfer that was asked for since
    (seconds)."""

    broken: dict[str, int]

    @property
    def good(self) -> bool:
        """Whether money moved, and every promise held."""
        return self.acknowledged > 0 and not any(self.broken.values())

    def __str__(self) -> str:
        broken = ", ".join(f"{name}: {count}" for name, count in self.broken.items() if count)
        return (
            f"{self.fault}, {self.engine}: {self.acknowledged} acknowledged, "
            f"{self.rejected.total()} rejected {dict(self.rejected)}, "
            f"{self.unknown} without an answer, "
            f"back after {self.back_after:.1f} s; broken: {broken or 'nothing'}"
        )


async def run_fault(
    built: Path, fault: Fault, engine: Engine, *, lead: float, tail: float
) -> Report:
    """Run the bank for ``lead`` seconds, through the fault, and for ``tail`` seconds after it."""
    before, during = Answers(), Answers()
    with trio.fail_after(LIMIT):
        async with open_bank(built, engine, fault.pooler, stock=fault.stock) as bank:
            await _move(bank, before, "before", lead)
            async with trio.open_nursery() as nursery:
                stop = trio.Event()
                for number in range(CLIENTS):
                    nursery.start_soon(move_money, bank, f"during-{number}", stop, during)
                await fault.befall(bank)
                stop.set()  # who waits for an answer goes on to do so
                after, back_after = await _come_back(bank)
            await _move(bank, after, "after", tail)
            ledger = await read_ledger(bank)
    answers = before.merge(during).merge(after)
    return Report(
        fault.name,
        engine,
        len(answers.acknowledged),
        answers.rejected,
        answers.unknown,
        back_after,
        judge(answers, ledger, cents=ACCOUNTS * CENTS, back_after=back_after),
    )


async def _move(bank: Bank, answers: Answers, name: str, seconds: float) -> None:
    stop = trio.Event()
    async with trio.open_nursery() as nursery:
        for number in range(CLIENTS):
            nursery.start_soon(move_money, bank, f"{name}-{number}", stop, answers)
        await trio.sleep(seconds)
        stop.set()


async def _come_back(bank: Bank) -> tuple[Answers, float]:
    """Move money until each client has been acknowledged something.

    Returns how long that took the last one, too.
    """
    began = trio.current_time()
    found = [Answers() for _ in range(CLIENTS)]
    with trio.move_on_after(3 * RECOVERY):
        async with trio.open_nursery() as nursery:
            for number, answers in enumerate(found):
                nursery.start_soon(_succeed, bank, f"back-{number}", answers)
    return reduce(Answers.merge, found), trio.current_time() - began


async def _succeed(bank: Bank, name: str, answers: Answers) -> None:
    stop = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(move_money, bank, name, stop, answers)
        while not answers.acknowledged:  # noqa: ASYNC110  # no event tells
            await trio.sleep(0.05)
        stop.set()
