"""One Node process: how it is started, tied to this process, and ended.

`open_node` is used by `fxtrio.ssr.worker`, which speaks to the process over the
socket that it hands out.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import IO, Final, Literal

import attrs
import trio

from fxtrio.errors import SsrStartFailed
from fxtrio.ssr.lifeline import Lifeline
from fxtrio.ssr.logs import log

WORKER: Final = Path(__file__).parent.parent / "js" / "worker" / "worker.mjs"

GRACE: Final = 1.0
"""Time that a process has to end by itself once its socket is closed (seconds)."""

KILL_WAIT: Final = 5.0
"""Longest wait for the kernel to end a killed process (seconds)."""

SOCKET_BUFFER: Final = 1024 * 1024
"""What the kernel holds of either direction (bytes), so that batches pass in one call."""

WITHHELD: Final = frozenset({"FX_SECRET_KEY"})
"""Variables of the environment that page code must not be able to show."""


@attrs.frozen(kw_only=True)
class Launch:
    """What all processes of a pool are started with."""

    bundle: Path
    """The SSR bundle."""

    node: str
    """Node's executable, a path or a name on the PATH."""

    heap_mb: int
    """Heap limit of a process (MiB)."""

    mode: Literal["production", "development"] = "production"
    """NODE_ENV: decides which build of React is loaded by a bundle that has both."""

    def command(self, *arguments: object) -> list[str]:
        """Return the command line, ``arguments`` after the bundle."""
        heap = f"--max-old-space-size={self.heap_mb}"
        return [self.node, heap, str(WORKER), str(self.bundle), *map(str, arguments)]

    def environment(self) -> dict[str, str]:
        """Return the environment of a process."""
        kept = {name: value for name, value in os.environ.items() if name not in WITHHELD}
        return {**kept, "NODE_ENV": self.mode}


@attrs.define(eq=False)
class NodeProcess:
    """A running Node process. Made by `open_node`; valid until its block ends."""

    process: trio.Process
    socket: socket.socket
    """Non-blocking; end of file once the process is gone."""

    mark: int
    """File whose first four bytes say which request is worked on (a descriptor)."""

    @property
    def pid(self) -> int:
        """The process id."""
        return self.process.pid

    def kill(self) -> None:
        """End the process now; the socket then reaches its end of file."""
        self.process.kill()

    def read_mark(self) -> int:
        """Return the id of the request that is or was worked on, 0 before the first."""
        return int.from_bytes(os.pread(self.mark, 4, 0), sys.byteorder)


@asynccontextmanager
async def open_node(launch: Launch) -> AsyncIterator[NodeProcess]:
    """Run one Node process for as long as the block lasts.

    When the block ends the process has GRACE seconds to follow, then it is killed. It
    also ends when this process does, however that comes about.
    Raises SsrStartFailed when Node cannot be started.
    """
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs), _open_mark() as mark, Lifeline() as lifeline:
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER)
        ours.setblocking(False)
        command = launch.command(theirs.fileno(), mark.fileno(), *lifeline.arguments)
        try:
            process = await trio.lowlevel.open_process(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(theirs.fileno(), mark.fileno(), lifeline.read),
                env=launch.environment(),
                start_new_session=True,  # a Ctrl-C is for the server, which ends its workers
            )
        except OSError as error:
            cause = (
                f"could not be started with {launch.node!r}: {error.strerror}. "
                "Install Node 20 or later, or the extra fxtrio[node]"
            )
            raise SsrStartFailed(launch.bundle, cause) from error
        try:
            lifeline.tie(process.pid)
            theirs.close()
            yield NodeProcess(process, ours, mark.fileno())
        finally:
            with trio.CancelScope(shield=True):
                await _end(process, ours)


async def _end(process: trio.Process, ours: socket.socket) -> None:
    """Wait until the process is gone, with less and less patience."""
    with suppress(OSError):  # not connected any more
        ours.shutdown(socket.SHUT_WR)
    with trio.move_on_after(GRACE):
        await process.wait()
    if process.returncode is None:
        process.kill()
    with trio.move_on_after(KILL_WAIT):
        await process.wait()
    if process.returncode is None:
        log.error("SSR worker %d is still there %g s after SIGKILL.", process.pid, KILL_WAIT)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            await pipe.aclose()


def _open_mark() -> IO[bytes]:
    """Return a file for `NodeProcess.mark`: in memory, where the system has that."""
    if sys.platform == "linux":
        return os.fdopen(os.memfd_create("fxtrio-ssr-mark"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)
