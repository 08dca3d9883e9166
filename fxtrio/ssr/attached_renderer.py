"""A renderer in a process that another one started: during development, Vite's.

`fxtrio.ssr.worker_lifecycle` uses `open_attached` instead of starting a process.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec
import trio

from fxtrio.ssr.errors import SsrStartFailed

_LONGEST_START = 10.0  # seconds
_LOOK = 0.05  # seconds


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """Where a renderer listens."""

    bundle: Path
    """Its Unix socket, which takes the frames of docs/wire.md."""


class AttachedNode(msgspec.Struct, frozen=True, eq=False):
    """A connection to a renderer. Created by `open_attached`; valid until its block ends."""

    socket: socket.socket
    """Non-blocking; end of file once the renderer has exited."""

    pid: int = 0
    """Another process owns the renderer's process."""

    returncode: int | None = None
    logs: tuple[tuple[trio.abc.ReceiveStream, int], ...] = ()
    """The owner of the process reads its output."""

    async def wait(self) -> None:
        """Return at once: the connection is all there is to wait for."""
        await trio.lowlevel.checkpoint()

    def kill(self) -> None:
        """End the connection; the socket then reaches its end of file."""
        with suppress(OSError):  # not connected any more
            self.socket.shutdown(socket.SHUT_RDWR)

    def read_mark(self) -> int:
        """Return 0: the renderer does not report its current render."""
        return 0


async def connect(place: Path) -> socket.socket:
    """Return a connection to the Unix socket ``place``, non-blocking.

    Waits some seconds for a listener: a process that exited is restarted. Raises OSError if
    there is none.
    """
    give_up = trio.current_time() + _LONGEST_START
    while True:
        connection = trio.socket.socket(socket.AF_UNIX)
        with connection:
            try:
                await connection.connect(str(place))
            except OSError:
                if trio.current_time() >= give_up:
                    raise
                await trio.sleep(_LOOK)
                continue
            plain = socket.socket(fileno=connection.detach())
        plain.setblocking(False)
        return plain


@asynccontextmanager
async def open_attached(attachment: Attachment) -> AsyncIterator[AttachedNode]:
    """Connect to a renderer while the block lasts.

    Raises SsrStartFailed if no process listens.
    """
    try:
        plain = await connect(attachment.bundle)
    except OSError as error:
        raise SsrStartFailed(attachment.bundle, f"nobody listens there: {error}") from error
    with plain:
        yield AttachedNode(plain)
