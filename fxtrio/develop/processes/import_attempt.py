"""Whether a new process could import the app. `loop` looks before it ends the one that serves.

Only a new process can say: what declares jobs, tables or metrics may fail when it runs twice in
one, and what a restart is for is exactly what cannot run twice.
"""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress
from functools import partial

import attrs
import trio

from fxtrio.develop.processes.attached_process import Adopted, adopt
from fxtrio.develop.processes.launch import Server, launch_server
from fxtrio.develop.processes.messages import BEGIN

_LONGEST = 20.0
"""How long an import may take (seconds); the process that serves is replaced then."""

_REST = 1.0
"""How long the last lines of a process that has ended may take (seconds)."""

_RAISED = re.compile(r"[A-Za-z_][\w.]*: .*")
"""The line of a traceback with the class and the message."""


async def find_import_failure(server: Server) -> str:
    """Return what a process writes that cannot import the app of ``server``; "" when it can."""
    launch = partial(launch_server, attrs.evolve(server, inspect=0), import_only=True)
    launched = await trio.to_thread.run_sync(launch)
    process = adopt(launched.process)
    written, ended = bytearray(), False
    try:
        async with trio.lowlevel.FdStream(launched.replies) as replies:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_read, process, written)
                nursery.cancel_scope.deadline = trio.current_time() + _LONGEST
                with suppress(trio.BrokenResourceError):  # it has ended
                    await process.stdin.send_all(BEGIN)
                if await replies.receive_some():
                    return ""
                await process.wait()
                ended = True
                nursery.cancel_scope.deadline = trio.current_time() + _REST
    finally:
        await _kill(process)
    if not ended:
        return ""
    text = written.decode(errors="replace").strip()
    return text or f"The app cannot be imported: exit code {process.returncode}"


def last_message(text: str) -> str:
    """Return the class and message at the end of a traceback; the last line of other texts."""
    lines = text.splitlines()
    return next((line for line in reversed(lines) if _RAISED.fullmatch(line)), lines[-1])


async def _read(process: Adopted, written: bytearray) -> None:
    async for part in process.stderr:
        written += part


async def _kill(process: Adopted) -> None:
    """End it with all that it has started."""
    with trio.CancelScope(shield=True):
        with suppress(ProcessLookupError):
            os.killpg(process.process.pid, signal.SIGKILL)
        await process.wait()
        await process.close()
