"""Runs the child and keeps what it says; runs the overlay when there is no child."""

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
import trio

from fxtrio.cli.develop.handover import GRACE, VARIABLE, ChildSettings
from fxtrio.cli.develop.hosts import development_app
from fxtrio.cli.develop.overlay import Failure, overlay_app
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


@attrs.frozen(kw_only=True)
class Server:
    """How to start the child."""

    root: Path
    app: str
    host: str
    """The name that the app is asked for by, besides those of the settings."""

    socket: socket.socket
    echo: Callable[[str], None]
    """Gets what the child writes to standard error, line by line."""


@asynccontextmanager
async def open_child(server: Server, version: str) -> AsyncIterator[Served]:
    """Run the child for as long as the block lasts; yields once it serves or has ended.

    At the end of the block it is asked to end; after a few seconds it is killed, with
    everything it has started.
    """
    served = Served()
    async with trio.open_nursery() as nursery:
        await nursery.start(_run_child, server, version, served)
        try:
            yield served
        finally:
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def open_overlay(
    listener: socket.socket, failure: Failure, *, version: str, settings: Config, host: str
) -> AsyncIterator[Served]:
    """Answer every request with a page about ``failure`` for as long as the block lasts."""
    app = development_app(overlay_app(failure), settings, version=version, host=host)
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
    version: str,
    served: Served,
    *,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    reading, writing = os.pipe()
    settings = ChildSettings(
        root=str(server.root),
        app=server.app,
        host=server.host,
        version=version,
        socket=server.socket.fileno(),
        ready=writing,
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
            async with trio.lowlevel.FdStream(reading) as ready:
                serves = await ready.receive_some(1) != b""  # it has died when the file ends
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


async def _read_lines(
    process: trio.Process, lines: deque[str], echo: Callable[[str], None]
) -> None:
    assert process.stderr is not None
    unread = b""
    async for data in process.stderr:
        *whole, unread = (unread + data).split(b"\n")
        for line in whole:
            text = line.decode(errors="replace")
            lines.append(text)
            echo(text)
    if unread:
        lines.append(unread.decode(errors="replace"))
        echo(lines[-1])


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
