"""Runs the child, hands it orders and keeps what it says; runs the overlay when there is none."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import attrs
import msgspec
import trio

from fxtrio.cli.develop.handover import GRACE, VARIABLE, ChildSettings, Swap, Swapped
from fxtrio.cli.develop.hosts import development_app
from fxtrio.cli.develop.lines import read_lines
from fxtrio.cli.develop.overlay import SCRIPT, Failure, StandIn, overlay_app
from fxtrio.config import Config
from fxtrio.supervise.binding import grouped
from fxtrio.supervise.hypercorn_config import make_config
from fxtrio.supervise.options import ServeOptions
from fxtrio.supervise.server import run_server

_LINES_KEPT = 60
_KILL_AFTER = GRACE + 3.0  # then something in the project does not end by itself


@attrs.define
class Served:
    """What answers requests at the moment."""

    ended: trio.Event = attrs.field(factory=trio.Event)
    """Set when it has ended by itself; `failure` says why."""

    failure: Failure | None = None

    lines: deque[str] = attrs.field(factory=lambda: deque(maxlen=_LINES_KEPT))
    """The last that it has written to standard error."""

    _orders: trio.abc.SendStream | None = None
    _replies: trio.MemoryReceiveChannel[Swapped] | None = None

    async def swap(self, order: Swap) -> Swapped:
        """Let the child replace code. One order at a time.

        A child that ends meanwhile has to be started anew, as `ended` says.
        """
        if self._orders is None or self._replies is None:
            return Swapped(restart="nothing is served")
        try:
            await self._orders.send_all(msgspec.json.encode(order) + b"\n")
            return await self._replies.receive()
        except (trio.BrokenResourceError, trio.EndOfChannel):
            return Swapped(restart="the app has stopped")

    def take_orders(
        self, orders: trio.abc.SendStream, replies: trio.MemoryReceiveChannel[Swapped]
    ) -> None:
        """Say where orders go to. The child has been started."""
        self._orders, self._replies = orders, replies


@attrs.frozen(kw_only=True)
class Server:
    """How to start the child."""

    root: Path
    app: str
    host: str
    """The name that the app is asked for by, besides those of the settings."""

    vite: Path
    """Folder of the sockets on which Node listens."""

    socket: socket.socket
    echo: Callable[[str], None]
    """Gets what the child writes to standard error, line by line."""


@asynccontextmanager
async def open_child(server: Server) -> AsyncIterator[Served]:
    """Run the child for as long as the block lasts; yields once it serves or has ended.

    At the end of the block it is asked to end; after a few seconds it is killed, with
    everything it has started.
    """
    served = Served()
    async with trio.open_nursery() as nursery:
        await nursery.start(_run_child, server, served)
        try:
            yield served
        finally:
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def open_overlay(
    listener: socket.socket, failure: Failure, *, settings: Config, host: str
) -> AsyncIterator[Served]:
    """Answer every request with a page about ``failure`` for as long as the block lasts."""
    page, told = overlay_app(failure), StandIn(failure)
    app = development_app(page, settings, modules=told, host=host, script=SCRIPT)
    config = make_config(ServeOptions(app="", log_level="ERROR", graceful=GRACE))
    stop = trio.Event()
    with listener.dup() as copy:
        sockets = grouped([copy], tls=False)
        async with trio.open_nursery() as nursery:
            await nursery.start(partial(run_server, app, config, sockets=sockets, stop=stop))
            yield Served()
            stop.set()


async def _run_child(
    server: Server,
    served: Served,
    *,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    reading, writing = os.pipe()
    settings = ChildSettings(
        root=str(server.root),
        app=server.app,
        host=server.host,
        vite=str(server.vite),
        socket=server.socket.fileno(),
        replies=writing,
    )
    environment = {
        **os.environ,
        VARIABLE: settings.to_json(),
        "FX_MODE": "development",
        "PYTHONUNBUFFERED": "1",
    }
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "fxtrio.cli.develop.child"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=server.root,
        env=environment,
        pass_fds=(server.socket.fileno(), writing),
        start_new_session=True,  # so that Ctrl-C reaches this command only
    )
    os.close(writing)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_read_lines, process, served.lines, server.echo)
            send, receive = trio.open_memory_channel[Swapped](1)
            assert process.stdin is not None
            served.take_orders(process.stdin, receive)
            serves = await nursery.start(_read_replies, reading, send)
            if serves:
                task_status.started()
            await process.wait()
            nursery.cancel_scope.deadline = trio.current_time() + 1.0  # for its last lines
        served.failure = Failure("The app has stopped", "\n".join(served.lines))
        served.ended.set()
        if not serves:
            task_status.started()
    finally:
        await _end(process)


async def _read_replies(
    reading: int,
    send: trio.MemorySendChannel[Swapped],
    *,
    task_status: trio.TaskStatus[bool] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Deliver what the child answers; hands over whether it serves once that is known."""
    serves = False
    async with trio.lowlevel.FdStream(reading) as stream:
        with send:
            async for line in read_lines(stream):
                if serves:
                    await send.send(msgspec.json.decode(line, type=Swapped))
                else:
                    serves = True
                    task_status.started(True)
    if not serves:
        task_status.started(False)


async def _read_lines(
    process: trio.Process, lines: deque[str], echo: Callable[[str], None]
) -> None:
    assert process.stderr is not None
    async for line in read_lines(process.stderr):
        text = line.decode(errors="replace")
        lines.append(text)
        echo(text)


async def _end(process: trio.Process) -> None:
    """Ask the child to end, and kill it with all it has started when it does not."""
    with trio.move_on_after(_KILL_AFTER + 1.0, shield=True):
        if process.returncode is None:
            process.terminate()
            with trio.move_on_after(_KILL_AFTER):
                await process.wait()
        with suppress(ProcessLookupError):  # as it should be: nothing is left
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    for pipe in (process.stdin, process.stderr):
        if pipe is not None:
            await trio.aclose_forcefully(pipe)
