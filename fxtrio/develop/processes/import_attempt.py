"""Imports the app in a new process, before `loop` ends the one that serves.

Only a new process can say: what declares jobs, tables or metrics may fail when it runs twice in
one, and what a restart is for is exactly what cannot run twice.
"""

from __future__ import annotations

import builtins
import errno
import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import attrs
import trio

from fxtrio.develop.processes.launch import Ahead, Server, end_launched, launch_server
from fxtrio.develop.processes.messages import BEGIN
from fxtrio.processes import wait_for_end

_LONGEST = 20.0
"""How long an import may take (seconds); the process that serves is replaced then."""

_REST = 1.0
"""How long the last lines of a process that has ended may take (seconds)."""

_MOST_WRITTEN = 1 << 20
"""How much is kept of what an import writes, from its end (bytes)."""

_HELD = tuple(f"[Errno {code}]" for code in (errno.EADDRINUSE, errno.EAGAIN))
"""Errors of a second process that binds the same port, or takes the same lock."""

_NUMBER = re.compile(r"\[Errno \d+\]")

_HELD_WORDS = re.compile(
    r"address already in use|\(os error (?:11|98)\)"
    r"|database (?:table |schema )?is locked|lock (?:wait )?timeout"
    r"|could not (?:set|obtain) lock on"
    r"|(?:could not|couldn't|unable to) (?:acquire (?:an? |the )?|)(?:file )?lock\b"
    r"|could not be acquired|resource temporarily unavailable"
    r"|(?:held|locked|used|accessed) by (?:another )?(?:process|instance)",
    re.IGNORECASE,
)
"""What databases and libraries for locks say, which give no such number.

ZeroMQ and libraries in Rust; SQLite, MySQL, DuckDB and PostgreSQL; redis and zc.lockfile; filelock
and LevelDB; Qdrant.
"""

_NO_MISTAKES = ("Exception", "OSError", "BlockingIOError", "TimeoutError", "RuntimeError")
"""The built-in classes of such errors: others are mistakes, whatever words they quote."""

_GROUPED = re.compile(r"^ *(?:\| |\+-[+-].*)", re.MULTILINE)
"""What a traceback has in front of the lines of an exception group, and between its parts."""

_RAISED = re.compile(r"[A-Za-z_][\w.]*: .*")
"""The line of a traceback with the class and the message."""


async def try_import(server: Server, ahead: Ahead, echo: Callable[[str], None]) -> str:
    """Return what a process writes that cannot import the app of ``server``; "" when it can.

    One that can serves next: ``ahead`` has it, and what is saved from now on is swapped in it, so
    that no mistake keeps it from its start. ``echo`` gets what it has written.
    """
    # The debugger's port is still that of the process that serves.
    launch = partial(launch_server, attrs.evolve(server, inspect=0))
    launched = await trio.to_thread.run_sync(launch)
    process, written = launched.process, bytearray()
    assert process.stdin is not None and process.stderr is not None  # they are PIPE
    launched.begun = True
    try:
        async with _copy(launched.replies) as replies, _copy(process.stderr.fileno()) as errors:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_read, errors, written)
                nursery.cancel_scope.deadline = trio.current_time() + _LONGEST
                with suppress(BrokenPipeError):  # it has ended
                    process.stdin.write(BEGIN)
                launched.imported = bool(await replies.receive_some())
                if launched.imported:
                    nursery.cancel_scope.cancel("it has imported the app")
                await wait_for_end(process)
                nursery.cancel_scope.deadline = trio.current_time() + _REST
        code = process.poll()
        text = written.decode(errors="replace").strip()
        if launched.imported and not server.inspect:
            ahead.keep(server, launched)
            for line in text.splitlines():
                echo(line)
    finally:
        if not ahead.has(launched):
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(end_launched, launched)
    if launched.imported or code is None:
        return ""
    return text or f"The app cannot be imported: exit code {code}"


def is_held(failed: str) -> bool:
    """Whether an import has failed for what the process that serves holds, as a port or a lock."""
    message = last_message(failed)
    name = message.partition(":")[0]
    if hasattr(builtins, name) and name not in _NO_MISTAKES:
        return False
    if _NUMBER.search(message):  # the rest is the name of a file, or of the error
        return any(number in message for number in _HELD)
    return bool(_HELD_WORDS.search(message))


def last_message(text: str) -> str:
    """Return the class and message at the end of a traceback; the last line of other texts.

    Lines that follow are of the message, or notes. Of an exception group, the last of its errors.
    """
    lines = _GROUPED.sub("", text).split("\n")
    frames = [index for index, line in enumerate(lines) if line.startswith('  File "')]
    ends = lines[frames[-1] :] if frames else lines
    raised = [line for line in ends if _RAISED.fullmatch(line)]
    if not raised:
        return lines[-1]
    return raised[0] if frames else raised[-1]


def _copy(descriptor: int) -> trio.lowlevel.FdStream:
    return trio.lowlevel.FdStream(os.dup(descriptor))


async def _read(stream: trio.abc.ReceiveStream, written: bytearray) -> None:
    async for part in stream:
        written += part
        del written[:-_MOST_WRITTEN]
