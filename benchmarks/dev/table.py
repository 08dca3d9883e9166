"""The table: `fx dev` beside its peers, with projects of some sizes.

All servers of a size run at once, and every kind of save is made in turn, server after server: the
figures of a row are of the same seconds, so that their ratios hold on a busy machine. While one
server is measured the others idle.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

import attrs
import psutil
from playwright.sync_api import Browser, Error

from benchmarks import processes
from benchmarks.dev.model import DevServer
from benchmarks.dev.saving import AFTERWARDS, Saving
from benchmarks.dev.server import first_page, running, show, window

_MOST_MISSED = 2  # saves of one kind: each takes `LONGEST`
_SETTLES = 6.0  # seconds after the visits: memory is released when nothing is requested
_CHECKED = 20.0  # seconds after the last save: until then checks run in the background
_IDLE = 120.0  # seconds: programs in Go collect garbage that often when nothing is done
_CPU_SAVES = ("UI text", "UI code", "component", "CSS", "loader data")
_TITLES = {
    "UI error shown / gone": ("UI error shown", "UI error gone"),
    "server error shown / gone": ("server error shown", "server error gone"),
}


@attrs.define
class Row:
    """One kind of figure of all servers."""

    title: str
    unit: str
    times: dict[str, list[float]] = attrs.field(factory=lambda: defaultdict(list))
    """By server."""

    missed: dict[str, int] = attrs.field(factory=lambda: defaultdict(int))
    """How often the browser has not shown it, by server."""


@attrs.frozen
class Size:
    """How much is measured."""

    pages: int
    edits: int
    starts: int
    cpu_saves: int
    visiting: float = 60.0
    """Seconds for which the pages of one server are visited at most."""

    only: frozenset[str] = frozenset()
    """Kinds of saves; empty for all."""


def measure_size(browser: Browser, servers: Sequence[DevServer], size: Size) -> Iterator[Row]:
    """Yield the rows of projects of one size, each when it is complete."""
    for server in servers:
        server.fill(size.pages)
    if size.starts:
        yield from _first_pages(browser, servers, size.starts)
    with ExitStack() as stack:
        savings = [stack.enter_context(_saving_in_window(browser, server)) for server in servers]
        yield _memory("memory at first", savings)
        for kind in _kinds(servers, size.only):
            yield from _saves(kind, savings, size.edits)
        if size.cpu_saves:
            yield _idle(savings)
        for kind in _CPU_SAVES if size.cpu_saves else ():
            if not size.only or kind in size.only:
                yield _cpu(kind, savings, size.cpu_saves)
        if not size.only:
            yield _visits(savings, size)
            time.sleep(_SETTLES)
            yield _memory("memory after visits", savings)
            yield _memory("memory of Node after visits", savings, program="node")


def _first_pages(browser: Browser, servers: Sequence[DevServer], starts: int) -> Iterator[Row]:
    for temperature, count in (("cold", 1), ("warm", starts)):
        painted = Row(f"first page painted, {temperature}", "ms")
        reacts = Row(f"first page reacts, {temperature}", "ms")
        for _ in range(count):
            for server in servers:
                if temperature == "cold":
                    server.clear_caches()
                try:
                    times = first_page(browser, server)
                except (Error, RuntimeError) as error:
                    print(f"{server.name}: {error}")
                    painted.missed[server.name] += 1
                    continue
                painted.times[server.name].append(times[0])
                reacts.times[server.name].append(times[1])
        yield painted
        yield reacts


@contextmanager
def _saving_in_window(browser: Browser, server: DevServer) -> Iterator[Saving]:
    with window(browser) as page, running(server) as run:
        show(page, server, run)
        yield Saving(server, run, page)


def _kinds(servers: Iterable[DevServer], only: frozenset[str]) -> list[str]:
    kinds = dict.fromkeys(kind for server in servers for kind in server.edits)
    return [kind for kind in kinds if not only or kind in only]


def _saves(kind: str, savings: Sequence[Saving], edits: int) -> list[Row]:
    rows = [Row(title, "ms") for title in _TITLES.get(kind, (kind,))]
    for number in range(-1, edits):  # the first is not counted: much is made for it
        for saving in savings:
            name = saving.server.name
            if kind not in saving.server.edits or rows[0].missed[name] >= _MOST_MISSED:
                continue
            try:
                times = list(saving.save(kind))
            except Error:
                rows[0].missed[name] += 1
                ended = saving.run.process.poll()
                if ended is not None:
                    print(f"{name} has ended with {ended}:\n{''.join(saving.run.lines)}")
                _show_again(saving)
                continue
            if number >= 0:
                for row, took in zip(rows, times, strict=True):
                    row.times[name].append(took)
    return rows


def _show_again(saving: Saving) -> None:
    with suppress(Error):
        show(saving.page, saving.server, saving.run)


def _idle(savings: Sequence[Saving]) -> Row:
    row = Row("CPU time of 10 s without a save", "ms")
    time.sleep(_CHECKED)
    before = [saving.run.cpu() for saving in savings]
    time.sleep(_IDLE)
    for saving, used in zip(savings, before, strict=True):
        row.times[saving.server.name].append((saving.run.cpu() - used) * 1000 * 10 / _IDLE)
    return row


def _cpu(kind: str, savings: Sequence[Saving], saves: int) -> Row:
    row = Row(f"CPU time of a save, {kind}", "ms")
    able = [saving for saving in savings if kind in saving.server.edits]
    for _ in range(saves):
        before = [saving.run.cpu() for saving in able]
        for saving in able:
            with suppress(Error):
                list(saving.save(kind))
        time.sleep(AFTERWARDS)
        for saving, used in zip(able, before, strict=True):
            row.times[saving.server.name].append((saving.run.cpu() - used) * 1000)
    return row


def _visits(savings: Sequence[Saving], size: Size) -> Row:
    """Visit every other page, as far as the time is enough."""
    row = Row("visit of another page", "ms")
    for saving in savings:
        give_up = time.monotonic() + size.visiting
        with saving.page.context.new_page() as page:
            for number in range(1, size.pages):
                if time.monotonic() > give_up:
                    row.missed[saving.server.name] = size.pages - number
                    break
                began = time.monotonic()
                page.goto(f"{saving.run.url}/p{number}")
                page.get_by_role("heading", name=f"Page {number}", exact=True).wait_for()
                row.times[saving.server.name].append((time.monotonic() - began) * 1000)
    return row


def _memory(title: str, savings: Iterable[Saving], program: str = "") -> Row:
    row = Row(title, "MB")
    for saving in savings:
        total = 0.0
        for process in processes.tree(saving.run.process.pid):
            with suppress(psutil.NoSuchProcess):
                if process.name().startswith(program):
                    total += process.memory_full_info().pss / 1e6
        row.times[saving.server.name].append(total)
    return row
