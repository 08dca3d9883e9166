"""Processes that were started without trio, which starts its own only while it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress

import trio

from fxtrio.limiters import limiter_of


async def wait_for_end(process: subprocess.Popen[bytes]) -> None:
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
