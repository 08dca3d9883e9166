"""The tour behind real sockets: `fx serve` in processes of its own, and Hypercorn."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import trio
from hypercorn.config import Config
from hypercorn.trio import serve
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_client_stream

from fxtrio.app import create_app
from tests.built import KEY
from tests.ports import free_port

PATIENCE = 60.0


@attrs.define
class Observed:
    """What `fx serve --workers 2` did, seen from outside. Dicts are by process id."""

    filled: int = 0
    """The process that three jobs wait in, behind one that hangs."""

    waiting: dict[int, int] = attrs.field(factory=dict)
    waiting_after_restart: dict[int, int] = attrs.field(factory=dict)
    """The same after ``filled`` was killed, and a new process had taken its place."""

    jobs_ran: bool = False
    joined: int = 0
    """The process that serves a WebSocket on a channel."""

    members: dict[int, int] = attrs.field(factory=dict)
    """Subscriptions of each process's broker at that time."""

    heard: str | bytes = ""
    """What a subscriber heard after "hello" had been published by way of the page `/`."""

    answer_in_flight: dict[str, Any] = attrs.field(factory=dict)
    """The body of the response that was under way when SIGTERM came."""

    close_code: int = 0
    """What the WebSocket that was open then was closed with."""

    exit_code: int = -1


async def observe_workers(tour: Path, folder: Path) -> Observed:
    """Serve the built tour with two processes, and see what each of them has of its own.

    Jobs and actions leave their traces in ``folder``.
    """
    seen = Observed()
    log, begun = folder / "jobs", folder / "begun"
    async with _serve_tour(tour) as workers:
        seen.filled = (await workers.act("queue", path=str(log)))["pid"]
        seen.waiting = await workers.report("waiting")
        async with open_socket(workers.place, "/shift") as member:
            seen.joined = int(await member.get_message())
            seen.members = await workers.report("members")
        async with open_socket(workers.place, "/") as member:
            await member.send_message("hello")
            seen.heard = await member.get_message()
        os.kill(seen.filled, signal.SIGKILL)  # a child of the server that this block began
        seen.waiting_after_restart = await workers.report("waiting", without=seen.filled)
        async with open_socket(workers.place, "/shift") as member:
            await member.get_message()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_linger, workers, begun, seen)
                while not begun.exists():  # noqa: ASYNC110  # another process says so by a file
                    await trio.sleep(0.01)
                workers.process.send_signal(signal.SIGTERM)
                try:
                    await member.get_message()
                except ConnectionClosed as closed:
                    seen.close_code = closed.reason.code if closed.reason else 0
        seen.exit_code = await workers.process.wait()
    seen.jobs_ran = log.exists()
    return seen


async def _linger(workers: _Workers, begun: Path, seen: Observed) -> None:
    seen.answer_in_flight = await workers.act("linger", path=str(begun))


@attrs.frozen
class _Workers:
    """`fx serve` as a client sees it: every request on a connection of its own."""

    process: trio.Process
    place: str

    async def act(self, name: str, **body: Any) -> dict[str, Any]:
        """Call an action of the page `/shift`."""
        found: dict[str, Any] = json.loads(
            await self.ask("POST", f"/api/__actions/shift/{name}", json.dumps(body))
        )
        return found

    async def report(self, key: str, *, without: int = 0) -> dict[int, int]:
        """Return what each of the two processes reports; ``without`` is one that was killed."""
        found: dict[int, int] = {}
        while len(found) < 2:  # the kernel chooses the process
            try:
                answer = await self.act("report")
            except OSError:
                continue  # of the process that was killed
            if answer["pid"] != without:
                found[answer["pid"]] = answer[key]
        return found

    async def ask(self, method: str, path: str, body: str = "") -> str:
        """Return the body of the response. Raises OSError without one."""
        lines = [
            f"{method} {path} HTTP/1.1",
            f"Host: {self.place}",
            "Sec-Fetch-Site: same-origin",
            "Connection: close",
            f"Content-Length: {len(body)}",
        ]
        stream = await _connect(self.place)
        async with stream:
            try:
                await stream.send_all("\r\n".join([*lines, "", body]).encode())
                response = b"".join([data async for data in stream]).decode()
            except trio.BrokenResourceError as error:
                raise ConnectionResetError from error
        if not response:
            raise ConnectionResetError
        return response.partition("\r\n\r\n")[2]


@asynccontextmanager
async def _serve_tour(tour: Path) -> AsyncIterator[_Workers]:
    place = f"127.0.0.1:{free_port()}"
    options = ("--root", str(tour), "--bind", place, "--workers", "2")
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "fxtrio", "serve", *options],
        env={**os.environ, "FX_SECRET_KEY": KEY},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    workers = _Workers(process, place)
    try:
        with trio.fail_after(PATIENCE):
            await _wait_until_ready(workers)
            yield workers
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)  # the session that this block began
            await process.wait()


async def _wait_until_ready(workers: _Workers) -> None:
    while True:
        assert workers.process.returncode is None, "the server has ended"
        try:
            await workers.ask("GET", "/readyz")
            return
        except OSError:
            await trio.sleep(0.05)  # there is no event to wait for from outside


@asynccontextmanager
async def serve_with_hypercorn(tour: Path, **settings: Any) -> AsyncIterator[str]:
    """Serve the built tour with Hypercorn in this process; gives ``host:port``."""
    app = create_app(tour, secret_keys=(KEY,), **settings)
    config = Config()
    config.bind = ["127.0.0.1:0"]
    config.accesslog = None
    config.errorlog = None
    end = trio.Event()
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            start = partial(serve, app, config, shutdown_trigger=end.wait)  # type: ignore[arg-type]  # Hypercorn types apps its own way
            (address,) = await nursery.start(start)
            try:
                yield str(address).rpartition("/")[2]
            finally:
                end.set()


@asynccontextmanager
async def open_socket(place: str, path: str) -> AsyncIterator[WebSocketConnection]:
    """Open a WebSocket to ``host:port``. Its connection ends with the block, whoever closed it."""
    async with await _connect(place) as stream, trio.open_nursery() as nursery:
        yield await wrap_client_stream(nursery, stream, place, path)
        nursery.cancel_scope.cancel()


async def _connect(place: str) -> trio.SocketStream:
    host, _, port = place.partition(":")
    return await trio.open_tcp_stream(host, int(port))
