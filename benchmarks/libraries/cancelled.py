"""One client does all calls of a library, and each is cancelled in the middle of its work."""

from __future__ import annotations

import gc
import threading
import time
from pathlib import Path

import attrs
import trio

from benchmarks.libraries.model import Library, Work

LIMIT = 60.0
"""For one library (seconds)."""


@attrs.frozen
class Held:
    """What a process holds (counts)."""

    tasks: int
    threads: int
    files: int

    def exceeds(self, other: Held) -> bool:
        """Whether anything is held that ``other`` did not hold; idle threads end by themselves."""
        return any(
            mine > its for mine, its in zip(attrs.astuple(self), attrs.astuple(other), strict=True)
        )

    @classmethod
    def now(cls) -> Held:
        gc.collect()
        # The threads of trio's cache wait for work, and end by themselves.
        names = [thread.name for thread in threading.enumerate()]
        working = [name for name in names if not name.startswith("Trio thread")]
        tasks = trio.lowlevel.current_statistics().tasks_living
        return cls(tasks, len(working), len(list(Path("/proc/self/fd").iterdir())))


async def cancel(library: Library, times: int) -> tuple[Held, Held, float]:
    """Cancel ``times`` calls; return what was held before and after, and seconds a call.

    Raises what the library does when it no longer works, and TooSlowError when something
    of the calls is left after a while.
    """
    with trio.fail_after(LIMIT):
        async with library() as work:
            await _cancel_one(work, 1)  # what is opened once is open
            before = Held.now()
            start = time.perf_counter()
            for number in range(2, times + 2):
                await _cancel_one(work, number)
            took = (time.perf_counter() - start) / times
            after = await _settled(before)
            await work.check()
            with trio.fail_after(10):
                while not await work.quiet():  # noqa: ASYNC110  # the other side tells nobody
                    await trio.sleep(0.01)
    return before, after, took


async def _cancel_one(work: Work, number: int) -> None:
    async def call() -> None:
        await work.call()  # which need not be a coroutine function

    async with trio.open_nursery() as nursery:
        nursery.start_soon(call)
        await work.begun(number)
        nursery.cancel_scope.cancel()


async def _settled(before: Held) -> Held:
    """Return what is held when it is no more than before, or after some seconds."""
    with trio.move_on_after(5):
        while (now := Held.now()).exceeds(before):  # noqa: ASYNC110  # threads end untold
            await trio.sleep(0.02)
    return now
