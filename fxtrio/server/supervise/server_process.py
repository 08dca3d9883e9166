"""One process that serves: its signals, its one limit at shutdown, its exit code.

Used by `serve` for a single process and by every worker of a supervisor.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from socket import socket
from typing import Any

import msgspec
import trio

from fxtrio.context import processes
from fxtrio.errors import FxtrioError, leaves
from fxtrio.log import open_log
from fxtrio.log_limit import SERVER
from fxtrio.server.supervise.application.importer import (
    explain_failure,
    load_application,
    own_lines,
)
from fxtrio.server.supervise.application.lifespan import StartFailed
from fxtrio.server.supervise.application.prefix import StrippedPrefix
from fxtrio.server.supervise.application.proxy_headers import ProxyHeaders
from fxtrio.server.supervise.hypercorn_config import ServerConfig, make_config
from fxtrio.server.supervise.listening.binding import grouped
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.server.supervise.server import run_server
from fxtrio.server.supervise.shutdown_report import describe_running
from fxtrio.server.supervise.signals import hold_signals, receive_signals
from fxtrio.tracebacks import trimmed

FAILED = 1
"""Exit code of a server that could not start, broke off, or did not end in time."""

FORCED = 130
"""Exit code after a second interrupt: the work in hand was dropped."""

_LAST = 1.0
"""Seconds of the shutdown's limit for cancelled tasks to finish (a tenth, if that is less)."""


class ParentInterface(msgspec.Struct, frozen=True, kw_only=True):
    """The channel between a server process and its parent."""

    ready: Callable[[list[str]], object]
    """Called with the addresses once requests are served."""

    stopping: Callable[[], object] = lambda: None
    """Called when a signal ends it."""

    supervised: bool = False
    """Whether a supervisor repeats the signals that the process group got already."""

    until: Callable[[], Awaitable[object]] = trio.sleep_forever
    """The server stops when this returns."""

    spent: Callable[[], object] | None = None
    """Called when ``max_requests`` are reached. None: the server stops then."""

    rejected: Callable[[str], object] | None = None
    """Called with the reason when the app does not start until somebody acts. None: it is
    reported here."""


def serve_here(options: ServeOptions, sockets: list[socket], around: ParentInterface) -> int:
    """Serve in this process until a signal; return the exit code."""
    plain = not around.supervised
    try:
        app = load_application(options)
        config = make_config(options)
    except FxtrioError as error:
        return report_failure(options, str(error), plain=plain)
    except (Exception, SystemExit) as error:
        explained = explain_failure(options, error)
        if explained:
            return report_failure(options, explained, plain=plain)
        if isinstance(error, SystemExit):
            raise  # whoever raised it has said why
        text = f"{options.app}: it cannot be imported."
        return report_failure(options, text, cause=error, plain=plain)
    open_log(options.log_format, options.log_level)
    processes.set(options.workers)
    if options.root_path_stripped:
        app = StrippedPrefix(app, options.root_path)
    if options.trusted_proxies:
        app = ProxyHeaders(app, config.proxies)
    process = _Process(options, config, around, hold_signals())
    try:
        return trio.run(process.run, app, sockets)
    finally:
        process.disarm()


def report_failure(
    options: ServeOptions, text: str, *, cause: BaseException | None = None, plain: bool
) -> int:
    """Report why the server failed, and return the exit code.

    It is logged; with ``plain``, for a user at a terminal, it is printed as it is, unless the
    log is JSON.
    """
    if plain and options.log_format == "console":
        print(text, file=sys.stderr)
        if cause is not None:
            print(*own_lines(cause), sep="", end="", file=sys.stderr)
    else:
        open_log(options.log_format, options.log_level)
        trimmed_error = None if cause is None else trimmed(cause)
        logging.getLogger(SERVER).critical("%s", text, exc_info=trimmed_error)
    return FAILED


class _Process:
    def __init__(
        self, options: ServeOptions, config: ServerConfig, around: ParentInterface, early: list[int]
    ) -> None:
        self._options = options
        self._early = early
        self._around = around
        self._config = config
        self._stop = trio.Event()
        self._serving = self._forced = self._timed_out = False
        self._timer: threading.Timer | None = None
        self._root: trio.lowlevel.Task | None = None

    async def run(self, app: Any, sockets: list[socket]) -> int:
        """Serve; return the exit code."""
        failed = False
        self._root = trio.lowlevel.current_task()
        try:
            with receive_signals(self._early) as signals:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._obey, signals, nursery.cancel_scope)
                    nursery.start_soon(self._watch_surroundings)
                    nursery.start_soon(self._limit_shutdown, nursery.cancel_scope)
                    await self._serve(app, sockets)
                    nursery.cancel_scope.cancel()
        except* FxtrioError as group:
            failed = True
            for error in leaves(group):
                if isinstance(error, StartFailed):
                    self._reject(error.reason)
                else:
                    await self._config.log.critical("%s", error)
        except* Exception as group:
            failed = True
            await self._config.log.critical("The server failed", exc_info=group)
        if self._timed_out:
            await self._config.log.critical("The shutdown took longer than its limit")
        if self._forced:
            return FORCED
        return FAILED if failed or self._timed_out else 0

    def disarm(self) -> None:
        """Let the process end in its own time again."""
        if self._timer is not None:
            self._timer.cancel()

    def started(self, value: Any = None) -> None:
        """Take the addresses from `run_server`, as a trio task status does."""
        self._serving = True
        self._around.ready(value)

    def _reject(self, reason: str) -> None:
        if self._around.rejected is None:
            report_failure(self._options, reason, plain=not self._around.supervised)
        else:
            self._around.rejected(reason)

    async def _serve(self, app: Any, sockets: list[socket]) -> None:
        options = self._options
        await run_server(
            app,
            self._config,
            sockets=grouped(sockets, tls=options.certfile is not None),
            stop=self._stop,
            max_requests=options.max_requests,
            spent=self._around.spent,
            task_status=self,
        )

    async def _obey(self, signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
        async for number in signals:
            if number == signal.SIGHUP and self._around.supervised:
                continue  # the supervisor got it too, and replaces workers one by one
            if not self._stop.is_set():
                if self._serving or not self._around.supervised:  # else its supervisor says why
                    await self._config.log.info("Stopping on %s", signal.Signals(number).name)
                self._stop.set()
                self._around.stopping()
                if not self._serving:  # there is nothing that could be finished
                    scope.cancel()
            elif number == signal.SIGINT and not self._around.supervised:
                self._forced = True
                self._arm(1.0, FORCED)
                scope.cancel()

    async def _watch_surroundings(self) -> None:
        await self._around.until()
        self._stop.set()

    async def _limit_shutdown(self, scope: trio.CancelScope) -> None:
        await self._stop.wait()
        self._arm(self._options.shutdown, FAILED)
        limit = self._options.shutdown
        await trio.sleep(limit - min(_LAST, limit / 10))
        self._timed_out = True
        scope.cancel()

    def _arm(self, seconds: float, code: int) -> None:
        """End the process after ``seconds``, even if a thread never ends or the loop hangs."""
        self.disarm()
        self._timer = threading.Timer(seconds, self._end_at_once, [code])
        self._timer.daemon = True
        self._timer.start()

    def _end_at_once(self, code: int) -> None:
        # A thread that hangs may hold the lock of the log.
        reporter = threading.Thread(target=self._log_remaining_work, name="fx.end", daemon=True)
        reporter.start()
        reporter.join(_LAST)
        os._exit(code)

    def _log_remaining_work(self) -> None:
        running = describe_running(self._root)
        logging.getLogger(SERVER).critical(
            "The process is killed while it is still working%s", f": {running}" if running else ""
        )
