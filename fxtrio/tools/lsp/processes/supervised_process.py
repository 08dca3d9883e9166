"""A process that answers requests over its stdin and stdout, and is restarted when it dies.

The analyst of UI halves is one, and so is each language server that requests are passed on to.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from subprocess import PIPE
from typing import Any

import trio
from pygls.exceptions import JsonRpcException

from fxtrio.errors import leaves
from fxtrio.tools.lsp.rpc import Answerer, ConnectionLost, TrioProtocol
from fxtrio.tools.types.report.rpc_frames import FrameInvalid

MOST_STARTS = 5
"""How often a process is started before it is abandoned (count)."""

END_TIMEOUT = 2.0
"""How long a process may take to exit on request, before it is killed (seconds)."""

START_TIMEOUT = 60.0
"""How long a process may take until it answers (seconds)."""

log = logging.getLogger("fx.lsp")


async def _skip_greeting(connection: TrioProtocol) -> None:
    await trio.lowlevel.checkpoint()


class SupervisedProcess:
    """One process, over all its lives. Runs while `run` does.

    ``greet`` is awaited at the start of each life, before any request. ``report`` gets
    a line when a life has ended. ``env`` is its environment, by default this
    process's. ``answers`` has what the process may ask, by method.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        report: Callable[[str], None],
        greet: Callable[[TrioProtocol], Awaitable[None]] = _skip_greeting,
        answers: Mapping[str, Callable[[Any], Any]] = {},
    ) -> None:
        self.name = name
        self.starts = 0
        """How often it was started (count)."""

        self._command = list(command)
        self._cwd = cwd
        self._env = env
        self._report = report
        self._greet = greet
        self._answers = answers
        self._connection: TrioProtocol | None = None
        self._changed = trio.Event()
        self._failed = False

    def __repr__(self) -> str:
        state = "failed" if self._failed else "runs" if self._connection else "starts"
        return f"<SupervisedProcess {self.name!r}: {state}, starts={self.starts}>"

    async def request(self, method: str, params: Any) -> Any:
        """Return the result of a request, when the process is ready for it.

        Raises JsonRpcException, and ConnectionLost when the process dies meanwhile or was given
        up.
        """
        connection = await self.wait_ready()
        return await connection.ask(method, params)

    async def wait_ready(self) -> TrioProtocol:
        """Return the connection when there is one. Raises ConnectionLost when it was abandoned."""
        while self._connection is None:
            if self._failed:
                raise ConnectionLost(self.name)
            await self._changed.wait()
        return self._connection

    def notify(self, method: str, params: Any) -> None:
        """Send a notification; while the process is not ready it is dropped."""
        if self._connection is not None:
            self._connection.notify(method, params)

    async def run(self) -> None:
        """Keep the process running; returns when it was abandoned."""
        try:
            while self.starts < MOST_STARTS:
                self.starts += 1
                cause, may_start = await self._live()
                again = may_start and self.starts < MOST_STARTS
                what = "it restarts" if again else "it is not restarted"
                self._report(f"{self.name}: {cause}, so {what}.")
                if not again:
                    return
        finally:
            self._failed = True
            self._set(None)

    def _set(self, connection: TrioProtocol | None) -> None:
        self._connection = connection
        self._changed.set()
        self._changed = trio.Event()

    async def _live(self) -> tuple[str, bool]:
        """Run the process once; returns why it has ended, and whether it can be started at all."""
        start = partial(
            trio.run_process,
            self._command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            check=False,
            cwd=self._cwd,
            env=self._env,
            deliver_cancel=_end,
        )
        cause, may_start = "", True
        code: int | None = None
        try:
            async with trio.open_nursery() as nursery:
                process: trio.Process = await nursery.start(start)
                nursery.start_soon(self._log_lines, process)
                cause = await self._talk(process)
                with trio.move_on_after(END_TIMEOUT):
                    code = await process.wait()
                nursery.cancel_scope.cancel("the process is of no use any more")
        except* OSError as group:
            cause, may_start = f"it cannot be started: {leaves(group)[0]}", False
        exit_text = "it has closed its output" if code is None else f"it has ended with {code}"
        return cause or exit_text, may_start

    async def _talk(self, process: trio.Process) -> str:
        """Ask and answer until the process ends; returns why, "" when it just has."""
        assert process.stdout is not None and process.stdin is not None  # pipes, as requested
        receive, send = process.stdout, process.stdin
        connection = Answerer(self.name, self._answers).protocol
        cause = ""
        async with trio.open_nursery() as nursery:

            async def listen(task_status: trio.TaskStatus[None]) -> None:
                nonlocal cause
                try:
                    await connection.serve(receive, send, task_status=task_status)
                except FrameInvalid:
                    cause = "it has written something other than a message"
                nursery.cancel_scope.cancel("the process has ended")

            await nursery.start(listen)
            try:
                with trio.fail_after(START_TIMEOUT):
                    await self._greet(connection)
            except trio.TooSlowError:
                cause = f"it has not responded within {START_TIMEOUT:g} s"
                nursery.cancel_scope.cancel(cause)
            except (ConnectionLost, JsonRpcException) as error:
                cause = f"it has not started: {error}"
                nursery.cancel_scope.cancel(cause)
            else:
                self._set(connection)
        self._set(None)
        return cause

    async def _log_lines(self, process: trio.Process) -> None:
        assert process.stderr is not None  # a pipe, as requested
        async for data in process.stderr:
            for line in data.decode("utf-8", "replace").splitlines():
                log.debug("%s: %s", self.name, line)


async def _end(process: trio.Process) -> None:
    """Ask a process to end, and kill it when it does not."""
    process.terminate()
    with trio.move_on_after(END_TIMEOUT, shield=True):
        await process.wait()
        return
    process.kill()
