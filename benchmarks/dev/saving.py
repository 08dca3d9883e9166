"""Saves, and how long each takes until the browser shows it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import attrs
from playwright.sync_api import Page

from benchmarks.dev.model import DevServer, Edit
from benchmarks.dev.server import Running, watch

LONGEST = 10.0
"""Seconds for what takes some milliseconds: then the save is not shown."""

PAUSE = 0.15
"""Between two saves (seconds): people make one, and the one before is on the screen by then."""

AFTERWARDS = 3.0
"""What is counted of the CPU time after a save (seconds): servers look for mistakes later."""


def measure(page: Page, check: str, save: Callable[[], None]) -> float:
    """Return the time from before ``save`` until ``check`` holds on the screen (ms).

    Other servers reload the page for some saves: the new document is watched, too.
    """
    appeared = watch(page, check, LONGEST)
    began = time.time() * 1000
    save()
    return appeared() - began


@attrs.frozen
class Saving:
    """A server whose page is shown, and edited."""

    server: DevServer
    run: Running
    page: Page
    _numbers: Counter[str] = attrs.field(factory=Counter)

    def times(self, kind: str, count: int) -> list[list[float]]:
        """Save what is of ``kind`` in turn; return the times of each (ms)."""
        times: list[list[float]] = [[] for _ in self.server.edits[kind]]
        for _ in range(count):
            for index, took in enumerate(self.save(kind)):
                times[index].append(took)
        return times

    def save(self, kind: str) -> Iterator[float]:
        """Yield the time of each save of ``kind``, once."""
        number = self._numbers[kind] + 1
        for edit in self.server.edits[kind]:
            time.sleep(PAUSE)
            with self._window(edit, number) as page:
                save = partial(self._write, kind, edit, number)
                yield measure(page, edit.check(number), save)

    def _write(self, kind: str, edit: Edit, number: int) -> None:
        # Not before: a window that reloads at this moment cannot be watched, and nothing is saved.
        self._numbers[kind] = number
        edit.save(self.server.project, number)

    def last(self, kind: str) -> int:
        """Return the number of the last save of ``kind``."""
        return self._numbers[kind]

    def cpu(self, kind: str, count: int) -> tuple[list[float], float]:
        """Return the CPU time of saves, and that of as much time without (seconds)."""
        time.sleep(AFTERWARDS)  # nothing of an earlier save is left
        before = self.run.cpu()
        time.sleep(AFTERWARDS)
        idle = self.run.cpu() - before
        used = []
        for _ in range(count):
            before = self.run.cpu()
            self.times(kind, 1)
            time.sleep(AFTERWARDS)
            used.append(self.run.cpu() - before)
        return used, idle

    @contextmanager
    def _window(self, edit: Edit, number: int) -> Iterator[Page]:
        if edit.visits is None:
            yield self.page
            return
        other = self.page.context.new_page()
        other.goto(self.run.url + edit.visits(number))
        other.wait_for_load_state("networkidle")
        yield other
        other.close()
