"""The plugin: listens to the framework's log, and calls the application with each defect."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import trio

from fxtrio.app_handle import App
from fxtrio.callables import awaitable, contain
from fxtrio.context import current
from fxtrio.errors import FunctionInvalid, named_function
from fxtrio.log_limit import LOGGERS, SERVER
from fxtrio.plugins.error_reports.report import ErrorReport, is_defect, report_of
from fxtrio.plugins.protocol import NoSettings, Plugin, PluginFailed
from fxtrio.tracebacks import logged_error, restore_tracebacks

CAPACITY = 100
"""Reports that wait for the application's function; more are only logged (count)."""

LIMIT = 10.0
"""How long the function may take for one, and the rest of them at the end (seconds)."""

_LOGGERS = (*LOGGERS, SERVER, "fx.db", "fx.jobs")
"""Not ``fx``, on which a handler would mean that the application writes the log by itself."""

_SEEN = "__fx_reported__"

log = logging.getLogger("fx.errors")


class ErrorFunctionInvalid(FunctionInvalid):
    """`observability.errors` names nothing that can be called. Raised when the app starts."""

    remedy = "Name a function that takes one report"


class _Listener(logging.Handler):
    """Takes errors of the app in whichever thread they are logged; never waits.

    `fx.errors` itself is left out: what fails while a report is handed over is only logged.
    """

    def __init__(
        self, app: App, release: str, root: Path, send: trio.MemorySendChannel[ErrorReport]
    ) -> None:
        super().__init__(logging.ERROR)
        self._app = app
        self._release = release
        self._root = root
        self._send = send
        self._loop = trio.lowlevel.current_trio_token()

    def emit(self, record: logging.LogRecord) -> None:
        context = current.get()
        if record.name == log.name or (context is not None and context.app is not self._app):
            return
        error = logged_error(record)
        if is_defect(error):
            self.take(error, record.getMessage(), record.name)

    def take(self, error: BaseException, message: str, logger: str) -> None:
        """Report a defect, unless the same request has reported it before."""
        context = current.get()
        request = "" if context is None else context.request_id
        if getattr(error, _SEEN, None) == (self._app.build_id, request):
            return
        # Frozen classes of attrs have a __setattr__ that raises.
        object.__setattr__(error, _SEEN, (self._app.build_id, request))
        report = report_of(
            error, message=message, logger=logger, release=self._release, root=self._root
        )
        try:
            self._loop.run_sync_soon(self._offer, report)
        except trio.RunFinishedError:
            return

    def _offer(self, report: ErrorReport) -> None:
        try:
            self._send.send_nowait(report)
        except trio.WouldBlock:
            log.warning("a report was dropped: %d wait for 'observability.errors'", CAPACITY)
        except trio.ClosedResourceError:
            return


class ErrorReportsPlugin(Plugin[NoSettings]):
    """Calls the function that `observability.errors` of the settings names."""

    name = "errors"
    of_setting = "observability.errors"

    @asynccontextmanager
    async def open(self, app: App) -> AsyncIterator[None]:
        """Report defects while the block lasts, and the one that ends it.

        Raises ErrorFunctionInvalid.
        """
        function = self._function(app)
        release = self.config.observability.release or app.build_id
        send, receive = trio.open_memory_channel[ErrorReport](CAPACITY)
        listener = _Listener(app, release, self.root, send)
        loggers = [logging.getLogger(name) for name in _LOGGERS]
        async with trio.open_nursery() as nursery:
            done = trio.Event()
            nursery.start_soon(_report_all, receive, function, done, name="errors.report")
            for logger in loggers:
                logger.addHandler(listener)
            try:
                yield
            except PluginFailed as failure:
                listener.take(failure, str(failure), "fx.app")
                raise
            finally:
                for logger in loggers:
                    logger.removeHandler(listener)
                trio.lowlevel.current_trio_token().run_sync_soon(send.close)  # behind the offers
                # Here, since what ends the block would end the nursery at once.
                with trio.move_on_after(LIMIT):
                    await done.wait()
                nursery.cancel_scope.cancel("the app has ended")

    def _function(self, app: App) -> Callable[[ErrorReport], Awaitable[object]]:
        setting, name = "observability.errors", self.config.observability.errors
        found = named_function(setting, name, app.resolve, ErrorFunctionInvalid)
        return awaitable(found, "reports")


async def _report_all(
    receive: trio.MemoryReceiveChannel[ErrorReport],
    function: Callable[[ErrorReport], Awaitable[object]],
    done: trio.Event,
) -> None:
    """Call the function with one report after the other, until no more can come."""
    async for report in receive:
        restore_tracebacks(report.tracebacks)
        with trio.move_on_after(LIMIT) as limit:
            error = await contain(partial(function, report))
            if error is not None:
                log.error("'observability.errors' failed", exc_info=error)
        if limit.cancelled_caught:
            log.error("'observability.errors' took longer than %g s for a report", LIMIT)
    done.set()
