"""A served application in processes of its own, as a test sees it from outside."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import attrs
import psutil
import trio

from fxtrio.server.supervise import ServeOptions

from ..forked import STANDBY, start
from ..http1.support import Client, Reply

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0


@attrs.frozen
class Process:
    """A child of this process."""

    _popen: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """How it has ended; None while it runs."""
        return self._popen.poll()

    def send_signal(self, number: int) -> None:
        self._popen.send_signal(number)

    async def wait(self) -> int:
        """Wait for its end; return how it has ended."""
        if self.returncode is None:  # else its number may be another's
            ended = os.pidfd_open(self.pid)
            try:
                await trio.lowlevel.wait_readable(ended)
            finally:
                os.close(ended)
        return self._popen.wait()


@attrs.define
class Running:
    """``log`` is what came on standard error so far, ``output`` on standard output."""

    process: Process
    log: str = ""
    output: str = ""
    port: int = 0
    silent: bool = False
    changed: trio.Event = attrs.field(factory=trio.Event)

    async def wait_for(self, pattern: str, times: int = 1) -> list[str]:
        """Wait until ``pattern`` was logged so often; return what its group matched."""
        with trio.fail_after(PATIENCE):
            while len(found := re.findall(pattern, self.log)) < times:
                assert not self.silent, f"it ended without {pattern!r}"
                await self.changed.wait()
        return found

    async def wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds that no event tells."""
        with trio.fail_after(PATIENCE):
            while not holds():  # noqa: ASYNC110
                await trio.sleep(0.02)

    async def connect(self) -> Client:
        with trio.fail_after(PATIENCE):
            return Client(await trio.open_tcp_stream("127.0.0.1", self.port))

    async def connect_unix(self, path: Path) -> trio.SocketStream:
        """Connect to a server whose log cannot be read, as soon as it listens."""
        with trio.fail_after(PATIENCE):
            while True:
                try:
                    return await trio.open_unix_socket(path)
                except (FileNotFoundError, ConnectionRefusedError):
                    assert self.process.returncode is None, "it has ended"
                    await trio.sleep(0.02)

    async def get(self, path: str = "/") -> Reply:
        async with await self.connect() as client:
            await client.send(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            with trio.fail_after(PATIENCE):
                return await client.reply()

    async def exit_code(self) -> int:
        with trio.fail_after(PATIENCE):
            return await self.process.wait()

    def workers(self) -> list[int]:
        """Return the process ids of the workers."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        return [child.pid for child in children if lives(child)]

    def kill(self, number: int = signal.SIGTERM, *, group: bool = False) -> None:
        if group:
            os.killpg(self.process.pid, number)
        else:
            self.process.send_signal(number)


@asynccontextmanager
async def serve(
    app: str = "app",
    *,
    module: str = "tests.supervise.apps",
    environment: Mapping[str, str] | None = None,
    ready: bool = True,
    fds: tuple[int, ...] = (),
    wrap: tuple[str, ...] = (),
    **options: Any,
) -> AsyncIterator[Running]:
    """Serve an application of ``module``; when the block ends it is killed if it still runs."""
    options.setdefault("bind", ("127.0.0.1:0",))
    settings = ServeOptions(app=f"{module}:{app}", app_dir=str(ROOT), **options)
    command = [*wrap, sys.executable, "-m", "tests.supervise.serve", settings.to_json()]
    ready_workers = settings.workers if ready else 0
    async with _run(command, ROOT, environment or {}, ready_workers, fds) as running:
        yield running


@asynccontextmanager
async def serve_project(
    root: Path,
    *options: str,
    workers: int,
    environment: Mapping[str, str],
    ready: bool = True,
    wrap: tuple[str, ...] = (),
) -> AsyncIterator[Running]:
    """Serve a built project with the command ``fx serve``, like `serve`."""
    command = [*wrap, sys.executable, "-m", "fxtrio", "serve", "--port", "0"]
    command += ["--workers", str(workers), *options]
    key = {"FX_SECRET_KEY": "a key for tests that is long enough"}
    async with _run(command, root, {**key, **environment}, workers if ready else 0) as running:
        yield running


@asynccontextmanager
async def serve_with_hypercorn(
    root: Path, app: str = "stock:app", *, workers: int, environment: Mapping[str, str]
) -> AsyncIterator[Running]:
    """Serve an app of a built project with stock Hypercorn, like `serve`."""
    command = [sys.executable, "-m", "hypercorn", "--worker-class", "trio"]
    command += ["--workers", str(workers), "--bind", "127.0.0.1:0", app]
    key = {"FX_SECRET_KEY": "a key for tests that is long enough"}
    async with _run(command, root, {**key, **environment}, workers) as running:
        yield running


@asynccontextmanager
async def _run(
    command: list[str],
    folder: Path,
    environment: Mapping[str, str],
    ready_workers: int,
    fds: tuple[int, ...] = (),
) -> AsyncIterator[Running]:
    async with (
        open_command(command, folder, {**os.environ, **environment}, fds) as (process, output, log),
        trio.open_nursery() as nursery,
    ):
        running = Running(process)
        nursery.start_soon(_follow, running, log, "log")
        nursery.start_soon(_follow, running, output, "output")
        if ready_workers:
            announced = r"Running on https?://127.0.0.1:(\d+)"
            running.port = int((await running.wait_for(announced, ready_workers))[0])
        try:
            yield running
        finally:
            print(running.log)  # pytest shows it when the test fails
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def open_command(
    command: list[str], folder: Path, environment: Mapping[str, str], fds: tuple[int, ...] = ()
) -> AsyncIterator[tuple[Process, trio.lowlevel.FdStream, trio.lowlevel.FdStream]]:
    """Run a command; yield it and what it writes to standard output and error.

    At the end of the block the session that it began is killed: workers outlive their parent.
    """
    (output, stdout), (log, stderr) = os.pipe(), os.pipe()
    async with trio.lowlevel.FdStream(output) as printed, trio.lowlevel.FdStream(log) as logged:
        try:
            process = Process(
                start(
                    command,
                    cwd=folder,
                    env=environment,
                    stdout=stdout,
                    stderr=stderr,
                    session=True,
                    pass_fds=fds,
                )
            )
        finally:
            os.close(stdout)
            os.close(stderr)
        try:
            yield process, printed, logged
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            with trio.CancelScope(shield=True):
                await process.wait()


def lives(process: psutil.Process) -> bool:
    """Return whether a process runs, and belongs to what is tested."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE and process.name() != STANDBY)
    except psutil.NoSuchProcess:
        return False


async def _follow(running: Running, pipe: Any, name: str) -> None:
    async for data in pipe:
        setattr(running, name, getattr(running, name) + data.decode())
        running.changed.set()
        running.changed = trio.Event()
    if name == "log":  # every process that could write to it has ended
        running.silent = True
        running.changed.set()


def lines(output: str) -> list[Any]:
    return [json.loads(line) for line in output.splitlines()]
