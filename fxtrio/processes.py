"""Processes that were started without trio, which starts its own only while it runs."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Protocol

import trio

from fxtrio.limiters import limiter_of


class Process(Protocol):
    """As much of `subprocess.Popen` as is used here."""

    @property
    def pid(self) -> int:
        """Its number."""

    def poll(self) -> int | None:
        """Return how it has ended; None while it runs."""

    def wait(self) -> int:
        """Wait until it has ended, and return how."""


async def wait_for_end(process: Process) -> None:
    """Wait until ``process`` has ended; its exit code is known then."""
    if process.poll() is not None:
        return
    if sys.platform == "linux":
        with suppress(OSError):  # a kernel or a sandbox without it
            descriptor = os.pidfd_open(process.pid)
            try:
                await trio.lowlevel.wait_readable(descriptor)
            finally:
                os.close(descriptor)
            process.wait()  # it has ended
            return
    await trio.to_thread.run_sync(
        process.wait, abandon_on_cancel=True, limiter=limiter_of("processes")
    )
