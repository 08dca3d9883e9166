"""Serves one editor over stdin and stdout. Called by the command `fx lsp`."""

from __future__ import annotations

import os
import sys

import trio

from fxtrio.tools.lsp.session import EditorSession


async def serve_editor(receive: trio.abc.ReceiveStream, send: trio.abc.SendStream) -> int:
    """Answer an editor until it leaves; returns the exit code that the protocol asks for.

    That is 0 after ``shutdown``, else 1. Raises FrameInvalid when it does not speak the
    protocol.
    """
    session = EditorSession()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(session.run)
        await session.server.protocol.serve(receive, send)
        nursery.cancel_scope.cancel("the editor has left")
    return 0 if session.server.protocol.was_shut_down else 1


async def serve_stdio() -> int:
    """Answer the editor that has started this process; see `serve_editor`.

    Prints go to stderr meanwhile, which editors write to a log.
    """
    sys.stdout.flush()
    receive = trio.lowlevel.FdStream(os.dup(0))
    send = trio.lowlevel.FdStream(os.dup(1))
    os.dup2(2, 1)
    async with receive, send:
        return await serve_editor(receive, send)
