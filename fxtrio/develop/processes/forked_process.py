"""A process that was forked from this one: as much of `subprocess.Popen` as `fx dev` uses."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress


class ForkedProcess:
    """A child of this process. Whoever has it waits for its end, and closes its pipes.

    It may be waited for in one thread while another one asks whether it runs.
    """

    stdout = None

    def __init__(self, pid: int, *, stdin: int, stderr: int) -> None:
        """``stdin`` and ``stderr`` are descriptors of our ends of pipes."""
        self.pid = pid
        self.returncode: int | None = None
        self.stdin = os.fdopen(stdin, "wb", buffering=0)
        self.stderr = os.fdopen(stderr, "rb", buffering=0)
        self._reaping = threading.Lock()

    def poll(self) -> int | None:
        """Return how it has ended, as `subprocess.Popen` says it; None while it runs."""
        with self._reaping:
            if self.returncode is None:
                try:
                    ended, status = os.waitpid(self.pid, os.WNOHANG)
                except ChildProcessError:  # where SIGCHLD is ignored, nobody learns how
                    self.returncode = 0
                else:
                    if ended:
                        self.returncode = os.waitstatus_to_exitcode(status)
            return self.returncode

    def wait(self) -> int:
        """Wait until it has ended, and return how."""
        while (code := self.poll()) is None:
            with suppress(ChildProcessError):  # as in `poll`
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        return code

    def terminate(self) -> None:
        """Ask it to end."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self._send(signal.SIGKILL)

    def close(self) -> None:
        """Close its pipes, and wait until it has ended."""
        self.stdin.close()
        self.stderr.close()
        self.wait()

    def _send(self, number: signal.Signals) -> None:
        if self.poll() is None:  # else another process may have its number
            with suppress(ProcessLookupError):  # it has just been waited for in another thread
                os.kill(self.pid, number)
