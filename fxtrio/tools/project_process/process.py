"""Gives a process its order, and waits for the answer."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path
from typing import IO

import attrs
import trio

from fxtrio.tools.project_process.start import ProjectProcess, open_process

LIMIT = 120.0
"""How long a project may take to be imported, by the clock of the machine (seconds)."""

MOST_PRINTED = 4000
"""Bytes of what the project has printed that are read back: the last."""


@attrs.frozen
class Outcome:
    """What came of an order."""

    answer: bytes
    """All that the task has written, even if it did not get to its end."""

    printed: str
    """The last of what the project has printed."""

    code: int | None
    """The exit code; None when it was killed, because it took too long."""

    limit: float
    """How long it could have taken (seconds)."""

    def ending(self) -> str:
        """Return how the process ended, in words that follow "it"."""
        if self.code is None:
            return f"took longer than {self.limit:g} s"
        return f"ended with {self.code}"


async def run_in_process(root: Path, task: str, order: bytes, *, limit: float = LIMIT) -> Outcome:
    """Give ``order`` to a process for the module ``task``. Cancelling it kills the process."""
    with open_process(root, task) as process:
        return await run_order(process, order, limit=limit)


async def run_order(process: ProjectProcess, order: bytes, *, limit: float = LIMIT) -> Outcome:
    """Give ``order`` to a process that has none yet. Cancelling it kills the process."""
    wait = partial(process.popen.communicate, order, timeout=limit)
    try:
        # The thread ends with the process, which the block of `open_process` kills.
        await trio.to_thread.run_sync(wait, abandon_on_cancel=True)
        code: int | None = process.popen.returncode
    except subprocess.TimeoutExpired:
        code = None
    finally:
        process.popen.kill()
    process.output.seek(0)
    return Outcome(process.output.read(), read_tail(process.errors), code, limit)


def read_tail(printed: IO[bytes]) -> str:
    """Return the end of what a file has."""
    size = printed.seek(0, 2)
    printed.seek(max(0, size - MOST_PRINTED))
    return printed.read().decode("utf-8", "replace")
