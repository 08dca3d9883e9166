"""A worker process as its supervisor sees it."""

from __future__ import annotations

import json
import signal
import sys
from functools import partial
from socket import socket, socketpair
from subprocess import DEVNULL

import trio

from fxtrio.server.supervise.options import ServeOptions

READY = b"ready\n"
"""A worker's message once it serves requests."""

SPENT = b"spent\n"
"""Its message after its share of requests; it serves until its successor is ready."""


ALIVE = b"alive\n"
"""Its heartbeat, sent `BEATS` times in ``options.hang`` while its event loop runs."""

BEATS = 12

_START_ERROR = b"refused "


def start_error_line(reason: str) -> bytes:
    """Return a worker's message when its app does not start until somebody acts."""
    return _START_ERROR + json.dumps(reason).encode() + b"\n"


_KILLED = frozenset(
    -number for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
)


class WorkerProcess:
    """One process. Its events are set as it gets there; each is set once."""

    def __init__(self, number: int, share: int | None = None) -> None:
        self.number = number
        self.share = share
        """Requests after which it wants a successor. None: it never does."""
        self.spent = False
        """Whether it has served them."""
        self.started = trio.Event()
        """It has its sockets: there is a process, or there will be none."""
        self.ready = trio.Event()
        """Set once it serves requests."""
        self.wanted = trio.Event()
        """A successor is wanted."""
        self.settled = trio.Event()
        """Whether it got one is decided."""
        self.exited = trio.Event()
        """The process has ended."""
        self.ready_at = trio.current_time()
        self.code: int | None = None
        self.start_error = ""
        """Why its app does not start until somebody acts."""
        self.hung = False
        """Whether it was killed because it gave no sign of life."""
        self._silent = 0  # beats since the last sign of life
        self._process: trio.Process | None = None
        self._early: int | None = None  # a signal from before there was a process

    @property
    def serves(self) -> bool:
        """Whether it serves requests now."""
        return self.ready.is_set() and not self.exited.is_set()

    @property
    def pid(self) -> int | None:
        """The number of its process; None before there is one."""
        return None if self._process is None else self._process.pid

    @property
    def was_killed(self) -> bool:
        """Whether it was killed from outside: by an operator, or by the kernel (out of memory)."""
        return not self.hung and self.code in _KILLED

    @property
    def fate(self) -> str:
        """How it ended, for the log."""
        pid = "?" if self.pid is None else self.pid
        if self.hung:
            return f"process {pid} hung, and was killed"
        if self.start_error:
            return f"process {pid} could not start: {self.start_error}"
        if self.code is None or self.code >= 0:
            return f"process {pid} ended with exit code {self.code}"
        return f"process {pid} was ended by {signal.Signals(-self.code).name}"

    async def run(self, options: ServeOptions, sockets: list[socket]) -> None:
        """Run the process to its end. Cancelling this kills it.

        One that was sent a signal before it began does not begin.
        """
        if self._early is not None:
            self.started.set()
            self.exited.set()
            return
        ours, theirs = socketpair()
        ours.setblocking(False)
        control = trio.SocketStream(trio.socket.from_stdlib_socket(ours))
        fds = [theirs.fileno(), *(listening.fileno() for listening in sockets)]
        run = partial(
            trio.run_process,
            [sys.executable, "-m", "fxtrio.server.supervise.worker", *map(str, fds)],
            pass_fds=fds,
            stdin=DEVNULL,
            check=False,
            deliver_cancel=_kill,
        )
        try:
            async with control, trio.open_nursery() as nursery:
                with theirs:
                    process = self._process = await nursery.start(run)
                self.started.set()
                if self._early is not None:
                    process.send_signal(self._early)
                nursery.start_soon(self._kill_when_hung, process, options)
                await self._converse(control, options)
                await process.wait()
                nursery.cancel_scope.cancel()
            self.code = process.returncode
        finally:
            self.started.set()
            self.exited.set()

    def signal(self, number: int) -> None:
        """Send a signal, as soon as there is a process, and unless it has ended."""
        if self._process is None:
            self._early = number
        elif self._process.returncode is None:
            self._process.send_signal(number)

    async def wait_ready(self) -> bool:
        """Wait until it serves; False when it ended before."""
        await first_of(self.ready, self.exited)
        self.ready_at = trio.current_time()
        return self.ready.is_set()

    async def _converse(self, control: trio.SocketStream, options: ServeOptions) -> None:
        try:
            await control.send_all(options.to_json().encode() + b"\n")
            rest = b""
            async for data in control:
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self._note(line + b"\n")
        except trio.BrokenResourceError:
            return  # it died; its exit code says how

    def _note(self, line: bytes) -> None:
        """Take one of its messages."""
        self._silent = 0
        if line == READY:
            self.ready.set()
        elif line == SPENT:
            self.spent = True
            self.wanted.set()
        elif line.startswith(_START_ERROR):
            self.start_error = json.loads(line.removeprefix(_START_ERROR))

    async def _kill_when_hung(self, process: trio.Process, options: ServeOptions) -> None:
        """Kill a worker that has sent no heartbeat for ``options.hang`` seconds.

        The time is counted in own intervals: a stopped machine or process group counts as one.
        Until the worker is ready, its start timeout is added.
        """
        with trio.move_on_after(options.startup + options.hang):
            await self.ready.wait()
        if not self.ready.is_set():
            self._silent = BEATS
        while self._silent < BEATS:  # its silence sets no event
            await trio.sleep(options.hang / BEATS)
            self._silent += 1
        self.hung = True
        process.kill()


async def first_of(*events: trio.Event) -> None:
    """Wait until one of ``events`` is set."""

    async def wait(event: trio.Event) -> None:
        await event.wait()
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        for event in events:
            nursery.start_soon(wait, event)


async def _kill(process: trio.Process) -> None:
    process.kill()
