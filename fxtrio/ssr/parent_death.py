"""A worker must not outlive the server, however the server ends. Used by `fxtrio.ssr.launch`."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
from contextlib import suppress


class ParentDeathPipe:
    """A pipe without a writer: when this process exits, the kernel kills the other one.

    The kernel does so (``F_SETSIG`` of fcntl(2)), so it works for a process in an endless
    loop, and costs neither a thread nor a timer. Unlike ``PR_SET_PDEATHSIG`` it is
    independent of the thread that started the process. Where the kernel cannot, `arguments`
    makes the worker watch its parent in a thread (8 MiB, 30 ms at the start).
    """

    def __init__(self, *, by_kernel: bool = True) -> None:
        self.read, self._write = os.pipe()
        """The end that the other process has to inherit."""

        self._by_kernel = by_kernel and self._choose_signal()
        self.arguments: tuple[int, ...] = () if self._by_kernel else (os.getpid(),)
        """Additional arguments for the worker."""

    def __enter__(self) -> ParentDeathPipe:
        return self

    def __exit__(self, *exc_info: object) -> None:
        os.close(self.read)
        os.close(self._write)

    def tie(self, pid: int) -> None:
        """Let ``pid``, which has inherited `read`, die with this process."""
        if sys.platform == "linux" and self._by_kernel:
            with suppress(ProcessLookupError):  # it has died already
                fcntl.fcntl(self.read, fcntl.F_SETOWN, pid)
            flags = fcntl.fcntl(self.read, fcntl.F_GETFL)
            fcntl.fcntl(self.read, fcntl.F_SETFL, flags | os.O_ASYNC)

    def _choose_signal(self) -> bool:
        """Return whether the kernel will do it."""
        if sys.platform == "linux":
            with suppress(OSError):  # something that only looks like Linux
                fcntl.fcntl(self.read, fcntl.F_SETSIG, signal.SIGKILL)
                return True
        return False
