"""Runs the child, hands it orders and keeps what it says."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import attrs
import msgspec
import trio

from fxtrio.develop.processes.attached_process import AttachedProcess, attach
from fxtrio.develop.processes.launch import Ahead, LaunchedServer, Server
from fxtrio.develop.processes.line_stream import read_lines
from fxtrio.develop.processes.messages import BEGIN, GRACE, SERVE, Swap, Swapped

_MOST_LINES = 60
_KILL_AFTER = GRACE + 3.0  # then something in the project does not end by itself

_ANSWER = 2.0
"""How long the app may take to hear of an order (seconds): a loader may hold it up for ever."""

_RUN = 20.0
"""How long the code of an order may run, or a start may take (seconds): some modules are slow
to import, and a process that is replaced while it imports them begins again."""


@attrs.frozen
class Failure:
    """Why there is no app to serve."""

    title: str
    details: str
    """Plain text, of any number of lines."""


@attrs.define
class Served:
    """What answers requests at the moment."""

    ended: trio.Event = attrs.field(factory=trio.Event)
    """Set when it has ended by itself; `failure` says why."""

    failure: Failure | None = None

    started: trio.Event = attrs.field(factory=trio.Event)
    """Set when it serves, or never will; `serves` says which."""

    serves: bool = False

    hung: bool = False
    """Whether it has not answered, and will not end by itself."""

    lines: deque[str] = attrs.field(factory=lambda: deque(maxlen=_MOST_LINES))
    """The last that it has written to standard error."""

    _orders: trio.abc.SendStream | None = None
    _replies: trio.MemoryReceiveChannel[Swapped] | None = None

    async def swap(self, order: Swap) -> Swapped:
        """Let the child replace code. One order at a time.

        A child that ends meanwhile has to be restarted, as `ended` says; so has one that does
        not answer.
        """
        if self._orders is None or self._replies is None:
            return Swapped(restart="nothing is served")
        try:
            with trio.move_on_after(_RUN) as starting:
                await self.started.wait()
            with trio.move_on_after(_ANSWER) as hearing:
                if not starting.cancelled_caught:
                    await self._orders.send_all(msgspec.json.encode(order) + b"\n")
                    await self._replies.receive()
            if not (starting.cancelled_caught or hearing.cancelled_caught):
                with trio.move_on_after(_RUN):
                    return await self._replies.receive()
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.EndOfChannel):
            return Swapped(restart="the app has stopped")
        self.hung = True
        return Swapped(restart="the app does not answer")

    def take_orders(
        self, orders: trio.abc.SendStream, replies: trio.MemoryReceiveChannel[Swapped]
    ) -> None:
        """Say where orders go to. The child has been started."""
        self._orders, self._replies = orders, replies


@asynccontextmanager
async def open_child(
    server: Server, ahead: Ahead, echo: Callable[[str], None]
) -> AsyncIterator[Served]:
    """Run the child for as long as the block lasts.

    ``echo`` gets what it writes to standard error, line by line.
    At the end of the block it gets the order to end; after a few seconds it is killed, with
    everything it has started.
    """
    served = Served()
    async with trio.open_nursery() as nursery:
        await nursery.start(_run_child, server, ahead, echo, served)
        try:
            yield served
        finally:
            nursery.cancel_scope.cancel()


async def _run_child(
    server: Server,
    ahead: Ahead,
    echo: Callable[[str], None],
    served: Served,
    *,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    launched = await trio.to_thread.run_sync(ahead.server, server)
    process = attach(launched.process)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_read_lines, process, served.lines, echo)
            send, receive = trio.open_memory_channel[Swapped](1)
            served.take_orders(process.stdin, receive)
            with suppress(trio.BrokenResourceError):  # it has ended
                await process.stdin.send_all(SERVE if launched.begun else BEGIN + SERVE)
            task_status.started()
            served.serves = await nursery.start(_read_replies, launched, send)
            served.started.set()
            await process.wait()
            nursery.cancel_scope.deadline = trio.current_time() + 1.0  # for its last lines
        served.failure = Failure("The app has stopped", "\n".join(served.lines))
        served.ended.set()
        served.started.set()
    finally:
        await _end(process, at_once=served.hung)


async def _read_replies(
    launched: LaunchedServer,
    send: trio.MemorySendChannel[Swapped],
    *,
    task_status: trio.TaskStatus[bool] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Deliver what the child answers; started once it serves (True), or never will (False)."""
    imported, serves = launched.imported, False
    async with trio.lowlevel.FdStream(launched.replies) as stream:
        with send:
            async for line in read_lines(stream):
                if serves:
                    await send.send(msgspec.json.decode(line, type=Swapped))
                elif not imported:
                    imported = True
                else:
                    serves = True
                    task_status.started(True)
    if not serves:
        task_status.started(False)


async def _read_lines(
    process: AttachedProcess, lines: deque[str], echo: Callable[[str], None]
) -> None:
    async for line in read_lines(process.stderr):
        text = line.decode(errors="replace")
        lines.append(text)
        echo(text)


async def _end(process: AttachedProcess, *, at_once: bool) -> None:
    """Ask the child to end, and kill it with all it has started: when it does not, or ``at_once``.

    The first is for the work of its last requests.
    """
    with trio.move_on_after(_KILL_AFTER + 1.0, shield=True):
        if process.returncode is None and not at_once:
            process.process.terminate()
            with trio.move_on_after(_KILL_AFTER):
                await process.wait()
        with suppress(ProcessLookupError):  # as it should be: nothing is left
            os.killpg(process.process.pid, signal.SIGKILL)
        await process.wait()
    await process.close()
