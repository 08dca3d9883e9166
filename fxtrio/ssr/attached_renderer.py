"""A renderer that another process has started: during development, the one that Vite runs in.

`open_attached` is what `fxtrio.ssr.worker_lifecycle` has in the place of a process of its own.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import attrs
import trio

from fxtrio.ssr.errors import SsrStartFailed

_LONGEST_START = 10.0  # seconds
_LOOK = 0.05  # seconds


@attrs.frozen(kw_only=True)
class Attachment:
    """Where a renderer listens."""

    bundle: Path
    """Its Unix socket, which takes the frames of docs/wire.md."""


@attrs.frozen(eq=False)
class AttachedNode:
    """A connection to a renderer. Made by `open_attached`; valid until its block ends."""

    socket: socket.socket
    """Non-blocking; end of file once the renderer is gone."""

    pid: int = 0
    """The process is somebody else's."""

    returncode: int | None = None
    logs: tuple[tuple[trio.abc.ReceiveStream, int], ...] = ()
    """Whoever has started the process reads what it prints."""

    async def wait(self) -> None:
        """Return at once: the connection is all there is to wait for."""
        await trio.lowlevel.checkpoint()

    def kill(self) -> None:
        """End the connection; the socket then reaches its end of file."""
        with suppress(OSError):  # not connected any more
            self.socket.shutdown(socket.SHUT_RDWR)

    def read_mark(self) -> int:
        """Return 0: the renderer does not say what it works on."""
        return 0


async def connect(place: Path) -> socket.socket:
    """Return a connection to the Unix socket ``place``, non-blocking.

    Waits some seconds for somebody who listens there: a process that has ended is started
    again. Raises OSError when there is none.
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
    """Be connected to a renderer for as long as the block lasts.

    Raises SsrStartFailed when nobody listens.
    """
    try:
        plain = await connect(attachment.bundle)
    except OSError as error:
        raise SsrStartFailed(attachment.bundle, f"nobody listens there: {error}") from error
    with plain:
        yield AttachedNode(plain)
