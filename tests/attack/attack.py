"""The attack: rounds of cases at the same time, and after each of them a look at everything."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import attrs
import trio

from .answers import read_answer
from .cases import Case
from .findings import Finding, find_in_log
from .further_probes import FURTHER
from .probes import check_guards, check_origins, check_pages, check_work
from .target import PATIENCE, Target, open_target

CLIENTS = 12
"""Connections at the same time."""

ROUND = 125
"""Cases between two looks at everything."""

MEMORY = 192 * 1024 * 1024
"""Bytes by which the process may grow. Its caches hold 8 MiB at most; bodies, of 10 MiB at most
and twelve at a time, are on the disk above 1 MiB, and in memory while they are parsed."""

SEARCH = 90.0
"""Seconds that the search for the case behind a finding may take."""

_FAILED_HANDLER = 1011

CHECKS = (check_guards, check_origins, check_pages, check_work, *FURTHER)


MORE = {"tasks": 0, "files": 20}
"""What the process may hold more of than before: the ten readers of a database, which are
opened when they are needed, have two files each (count)."""


@attrs.define
class Attack:
    """An attack on one app. ``findings`` are those so far, one for each cause."""

    root: Path
    report: Callable[[Finding], object]
    database: Callable[[], str] | None = None
    """Makes an empty database; None for files of SQLite."""

    findings: dict[tuple[str, str], Finding] = attrs.field(factory=dict)
    cases: int = 0
    longest: float = 0.0
    """Most processor time that the loop took at once (seconds)."""

    longest_lag: float = 0.0
    """Most that a task was woken late for the sake of the process itself (seconds)."""

    growth: int = 0
    """Bytes by which the process has grown since it was warm."""

    async def run(self, cases: Iterator[Case], *, until: Callable[[], bool]) -> None:
        """Attack in rounds, until there are no more cases or ``until`` says so."""
        async with open_target(self.root, database=self.database) as target:
            async for found in look(target):
                await self.note(found, ())
            before = await target.take_state()
            while not until() and (batch := list(islice(cases, ROUND))):
                await self._round(target, batch)
                if target.running.process.returncode is not None:
                    break
            else:
                await self._end(target, before)

    async def _round(self, target: Target, batch: Sequence[Case]) -> None:
        waiting = list(reversed(batch))

        async def client() -> None:
            while waiting:
                for found in await judge(target, waiting.pop()):
                    await self.note(found, ())

        async with trio.open_nursery() as nursery:
            for _ in range(CLIENTS):
                nursery.start_soon(client)
        self.cases += len(batch)
        async for found in look(target, self._measured):
            await self.note(found, batch)

    def _measured(self, state: dict[str, Any]) -> None:
        self.longest = max(self.longest, state["longest"])
        self.longest_lag = max(self.longest_lag, state["longest_lag"])

    async def note(self, found: Finding, batch: Sequence[Case]) -> None:
        """Keep a finding, unless its cause is known; look for what did it in ``batch``."""
        if found.key in self.findings:
            return
        self.findings[found.key] = found
        if found.case is None and batch:
            found = self.findings[found.key] = await self._search(found, batch)
        self.report(found)

    async def _search(self, wanted: Finding, batch: Sequence[Case]) -> Finding:
        """Return ``wanted`` with the case that shows it alone, on a process of its own."""
        with trio.move_on_after(SEARCH):
            async with open_target(self.root, database=self.database) as target:
                everything = wanted.kind in ("guard", "page")
                for case in batch:
                    async for found in replay(target, case, everything=everything):
                        if found.key == wanted.key:
                            return attrs.evolve(wanted, case=case)
        return wanted

    async def _end(self, target: Target, before: dict[str, Any]) -> None:
        """See that nothing is left of the attack, and that the server ends in order."""
        after: dict[str, Any] = {}
        with trio.move_on_after(PATIENCE):
            while True:
                after = await target.take_state()
                if all(after[name] <= before[name] + most for name, most in MORE.items()):
                    break
                await trio.sleep(0.1)
        for name, most in MORE.items():
            if after[name] > before[name] + most:
                detail = f"{before[name]} before, {after[name]} after"
                await self.note(Finding("left", f"there are more {name} than before", detail), ())
        self.growth = after["bytes"] - before["bytes"]
        if self.growth > MEMORY:
            grown = f"{self.growth / 1e6:.0f} MB"
            await self.note(Finding("left", "the process has grown", grown), ())
        target.running.kill()
        code = await target.running.exit_code()
        if code != 0:
            await self.note(Finding("left", "it does not end in order", f"exit code {code}"), ())


async def judge(target: Target, case: Case) -> list[Finding]:
    """Send a case and return what is wrong with what comes back."""
    try:
        data = await target.send(case)
    except trio.TooSlowError:
        return [Finding("silence", f"a connection of {case.surface} does not end", case=case)]
    except OSError as error:
        return [Finding("silence", f"no connection: {error}", case=case)]
    answer = read_answer(case.protocol, data)
    found = []
    for status in sorted(set(answer.failures)):
        found.append(Finding("status", f"{case.surface}: {status}", f"{data[:2000]!r}", case))
    if _FAILED_HANDLER in answer.codes:
        found.append(Finding("status", f"{case.surface}: closed with 1011", f"{data!r}", case))
    if target.canary in answer.text and not case.signed_in:
        found.append(Finding("breach", f"{case.surface}: nobody sees what users see", case=case))
    if target.inner in answer.text and case.proxied:
        found.append(Finding("breach", "a proxy denies this, and it was seen", case=case))
    if answer.forged:
        found.append(
            Finding("breach", f"{case.surface}: a header of the client's making", case=case)
        )
    return found


async def look(
    target: Target, measured: Callable[[dict[str, Any]], object] = lambda state: None
) -> AsyncIterator[Finding]:
    """Return what is wrong with the app: in its log, its process, its guards and its pages."""
    async for found in look_inside(target, measured):
        yield found
    for check in CHECKS:
        try:
            async for found in check(target):
                yield found
        except (trio.TooSlowError, AssertionError, OSError) as error:
            yield Finding("silence", f"{check.__name__} was not answered", repr(error))
    async for found in look_inside(target, measured):
        yield found


async def look_inside(
    target: Target, measured: Callable[[dict[str, Any]], object] = lambda state: None
) -> AsyncIterator[Finding]:
    """Return what the process and its log tell."""
    try:
        state = await target.take_state()
    except (trio.TooSlowError, AssertionError, OSError) as error:
        yield Finding("silence", "the process was not answering", repr(error))
        return
    measured(state)
    for stall in state["stalls"]:
        place = [line.strip() for line in stall["stack"].splitlines() if "File" in line]
        cause = place[-1] if place else stall["task"]
        detail = f"{stall['seconds']:.2f} s, of which {stall['step']:.2f} s in {stall['task']}"
        yield Finding("stall", cause, f"{detail}\n{stall['stack']}")
    for place in state["breaches"]:
        yield Finding("breach", f"{place} ran for nobody")
    for found in find_in_log(target.take_log()):
        yield found


async def replay(target: Target, case: Case, *, everything: bool = True) -> AsyncIterator[Finding]:
    """Send one case alone, and return all that it does, or all but the state of the pages."""
    for found in await judge(target, case):
        yield found
    async for found in look(target) if everything else look_inside(target):
        yield attrs.evolve(found, case=case)


def for_seconds(seconds: float) -> Callable[[], bool]:
    """Return a function that says whether that time has passed."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end
