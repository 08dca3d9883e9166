"""One Node process: taken over from its start, waited for, and ended.

`open_node` is used by `fxtrio.ssr.worker_lifecycle`; `fxtrio.ssr.render_worker` speaks to the
process over the socket that it hands out.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from typing import IO, Final

import msgspec
import trio

from fxtrio.limiters import limiter_of
from fxtrio.processes import wait_for_end
from fxtrio.ssr.process.launch import Launch, LaunchedNode, launch_node
from fxtrio.ssr.process.logs import log
from fxtrio.ssr.process.prestart import take_prestarted

GRACE: Final = 1.0
"""Time for a process to exit on its own after its socket was closed (seconds)."""

KILL_WAIT: Final = 5.0
"""Longest wait for the kernel to end a killed process (seconds)."""


class NodeProcess(msgspec.Struct, frozen=True, eq=False):
    """A running Node process. Created by `open_node`; valid until its block ends."""

    _launched: LaunchedNode
    stdout: trio.abc.ReceiveStream
    stderr: trio.abc.ReceiveStream

    @property
    def logs(self) -> tuple[tuple[trio.abc.ReceiveStream, int], ...]:
        """The pipes that it prints to, each with the level of its lines."""
        return (self.stdout, logging.INFO), (self.stderr, logging.WARNING)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._launched.process.pid

    @property
    def socket(self) -> socket.socket:
        """Non-blocking; end of file once the process has exited."""
        return self._launched.socket

    @property
    def returncode(self) -> int | None:
        """How it ended, as `subprocess.Popen` says it; None while it runs."""
        return self._launched.process.poll()

    async def wait(self) -> None:
        """Wait until the process has ended."""
        process = self._launched.process
        if process.poll() is None:
            await wait_for_end(process)

    def kill(self) -> None:
        """End the process now; the socket then reaches its end of file."""
        self._launched.process.kill()

    def read_mark(self) -> int:
        """Return the id of the request that is or was worked on, 0 before the first."""
        return int.from_bytes(os.pread(self._launched.mark.fileno(), 4, 0), sys.byteorder)


@asynccontextmanager
async def open_node(launch: Launch) -> AsyncIterator[NodeProcess]:
    """Run one Node process while the block lasts: a prestarted one, or a new one.

    When the block ends the process has GRACE seconds to exit, then it is killed. It
    also ends when this process does, for whatever reason.
    Raises SsrStartFailed when Node cannot be started.
    """
    launched = take_prestarted(launch)
    if launched is None:
        # In a thread, since the system may have to fetch the program first.
        launched = await trio.to_thread.run_sync(
            launch_node, launch, limiter=limiter_of("processes")
        )
    with closing(launched):
        node = NodeProcess(launched, _stream(launched.stdout), _stream(launched.stderr))
        try:
            yield node
        finally:
            with trio.CancelScope(shield=True):
                await _end(node)


async def _end(node: NodeProcess) -> None:
    """Wait until the process has exited; kill it after the grace period."""
    with suppress(OSError):  # not connected any more
        node.socket.shutdown(socket.SHUT_WR)
    with trio.move_on_after(GRACE):
        await node.wait()
    if node.returncode is None:
        node.kill()
    with trio.move_on_after(KILL_WAIT):
        await node.wait()
    if node.returncode is None:
        log.error("SSR worker %d is still running %g s after SIGKILL.", node.pid, KILL_WAIT)
    for pipe in (node.stdout, node.stderr):
        await pipe.aclose()


def _stream(pipe: IO[bytes]) -> trio.abc.ReceiveStream:
    """Return a stream with a descriptor of its own."""
    return trio.lowlevel.FdStream(os.dup(pipe.fileno()))
