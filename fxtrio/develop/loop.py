"""Prepare, serve, follow. Run by `fx dev`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Protocol

import attrs
import trio

from fxtrio.config import CONFIG_FILE, Config, load_config
from fxtrio.develop.build.applied import Applied, SwapCode
from fxtrio.develop.processes.import_attempt import is_held, last_message, try_import
from fxtrio.develop.processes.launch import Ahead, Server
from fxtrio.develop.processes.messages import Swap, Swapped
from fxtrio.develop.processes.server_child import Failure, Served, open_child
from fxtrio.develop.reload.watcher import Changes, PendingChanges, run_watch
from fxtrio.errors import FxtrioError, leaves


class Reporter(Protocol):
    """Shows the developer what happens."""

    def built(self, seconds: float) -> None:
        """Say that the project has been compiled."""

    def started(self, seconds: float) -> None:
        """Say that the app serves."""

    def changed(self, files: tuple[str, ...]) -> None:
        """Say which files have changed."""

    def applied(self, applied: Applied, seconds: float) -> None:
        """Say what came of it."""

    def failed(self, failure: Failure) -> None:
        """Show why there is no app; the terminal has the child's own output already."""

    def line(self, text: str) -> None:
        """Pass on a line of the app or of the bundler."""


class Followed(Protocol):
    """The project: `fxtrio.develop.build.dev_project.DevProject`, or a stand-in of tests."""

    async def prepare(self) -> None:
        """Compile it. Raises FxtrioError when it cannot be served."""

    async def apply(self, changes: Changes, swap: SwapCode, restart: str = "") -> Applied:
        """Take over changes while it is served. Raises FxtrioError when it cannot be any more.

        ``restart`` says why a new process is needed in any case.
        """

    def miss(self, changes: Changes) -> None:
        """Remember changes that come while it cannot be served."""


_RETRY = 1.0
"""After which time a process is started once more that the machine had no room for (seconds)."""


@attrs.frozen
class _Renewal:
    """The project is to be prepared while nothing is served.

    Node may restart, and its pages would request new code from the old process.
    """


@attrs.frozen(kw_only=True)
class Loop:
    """One run of `fx dev`."""

    server: Server
    """Its socket stays open all the time, so that browsers wait instead of failing."""

    project: Followed
    report: Reporter
    ahead: Ahead = attrs.field(factory=Ahead)
    watch: Callable[[Path, PendingChanges], Awaitable[None]] = run_watch
    restart: trio.MemoryReceiveChannel[None] | None = None
    """Gives something whenever the developer asks for another process."""

    find_app: Callable[[], str] = attrs.field(
        default=attrs.Factory(lambda self: lambda: self.server.app, takes_self=True)
    )
    """Returns `Server.app` as it is now: files of apps come and go."""

    async def run(self) -> None:
        """Serve the project and follow its changes until cancelled."""
        pending = PendingChanges()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.watch, self.server.root, pending)
            if self.restart is not None:
                nursery.start_soon(_ask_for_restarts, self.restart, pending)
            failure = await self._prepare()
            try:
                while True:
                    failure = await self._serve_and_follow(pending, failure)
            finally:
                self.ahead.end_begun()

    async def _serve_and_follow(
        self, pending: PendingChanges, failure: Failure | None
    ) -> Failure | None:
        """Serve until something else is to be served; return the failure to show."""
        errors: list[BaseException] = []
        found: Failure | _Renewal | None = None
        printed = ""
        server = attrs.evolve(self.server, app=self.find_app())
        try:
            async with self._serve(server, failure) as served:
                async with trio.open_nursery() as nursery:
                    if failure is None:
                        nursery.start_soon(self._tell_start, served)
                    found = await self._follow(pending, served, server.app, failure)
                    printed = "\n".join(served.lines)
                    nursery.cancel_scope.cancel("something else is to be served")
        except* OSError as group:  # no room for a process, or for files
            errors = leaves(group)
        if errors:
            self._failed(errors, "")
            self.ahead.end_begun()
            await trio.sleep(_RETRY)
            return await self._prepare()
        # Outside of the block: browsers wait for whatever serves next.
        return await self._prepare(printed) if isinstance(found, _Renewal) else found

    async def _tell_start(self, served: Served) -> None:
        started = trio.current_time()
        await served.started.wait()
        if served.serves:
            self.report.started(trio.current_time() - started)

    def _serve(
        self, server: Server, failure: Failure | None
    ) -> AbstractAsyncContextManager[Served]:
        if failure is None:
            return open_child(server, self.ahead, self.report.line)
        # Heavy, and mostly not needed.
        from fxtrio.develop.report.error_app import open_overlay

        root, host = server.root, server.host
        settings = _settings(root)
        return open_overlay(server.socket, failure, root=root, settings=settings, host=host)

    async def _follow(
        self, pending: PendingChanges, served: Served, app: str, failure: Failure | None
    ) -> Failure | _Renewal | None:
        """Follow changes of ``app`` until something else is to be served.

        Return the failure to show.
        """
        latest = app
        while True:
            changes = await _next(pending, served)
            if changes is None:
                stopped = served.failure or Failure("The app has stopped", "")
                self.report.failed(attrs.evolve(stopped, details=""))
                return stopped
            # What has ended cannot take changes over: they may be what the next process needs.
            if failure is not None or not changes.files or served.ended.is_set():
                if changes.files:
                    self.report.changed(changes.files)
                self.project.miss(changes)
                self.ahead.end_begun()
                return _Renewal()
            now, before = self.find_app(), latest
            latest = now
            # If another app could not be imported, the next attempt waits for a change that may be
            # the repair: it costs a process.
            is_other = now != app and (now != before or any(map(_decides_imports, changes.files)))
            restart = _app_change(app, now) if is_other else ""
            started = trio.current_time()
            applied: Applied | None = None
            errors: list[BaseException] = []
            swap = partial(self._swap, served)
            try:
                applied = await self.project.apply(changes, swap, restart)
            except* (FxtrioError, OSError) as group:
                errors = leaves(group)
            # The output of `fx dev` may go to a file of the project: that is no change.
            if applied is None or applied.used:
                self.report.changed(changes.files)
            if applied is None:
                self.project.miss(changes)  # perhaps not all of them have reached Node
                return self._failed(errors, "")
            if applied.used and (applied.restart or not served.ended.is_set()):
                self.report.applied(applied, trio.current_time() - started)
            if applied.restart:  # also of what has ended meanwhile: it did not get the changes
                return _Renewal()

    async def _swap(self, served: Served, order: Swap) -> Swapped:
        """Let what serves replace code; it stays if a new process could not import the app."""
        if order.restart:
            swapped = Swapped(restart=order.restart)
        else:
            swapped = await served.swap(order)
        if not swapped.restart or served.hung or served.ended.is_set():
            return swapped
        server = attrs.evolve(self.server, app=self.find_app())
        failed = await try_import(server, self.ahead, self.report.line)
        if not failed or is_held(failed):  # a new process has it once this one has ended
            return swapped
        return Swapped(failed=failed, error=last_message(failed), sources=swapped.sources)

    async def _prepare(self, printed: str = "") -> Failure | None:
        """Compile the project; return the failure to show, or None.

        ``printed`` is what the child has written. It may have been started by settings that
        keep it from serving, and the project from being compiled: those are not reported twice.
        """
        started = trio.current_time()
        errors: list[BaseException] = []
        try:
            await self.project.prepare()
        except* (FxtrioError, OSError) as group:
            errors = leaves(group)
        if errors:
            return self._failed(errors, printed)
        self.report.built(trio.current_time() - started)
        return None

    def _failed(self, errors: list[BaseException], printed: str) -> Failure:
        failure = Failure("The build has failed", "\n".join(map(str, errors)))
        known = failure.details in printed
        self.report.failed(attrs.evolve(failure, details="") if known else failure)
        return failure


async def _next(pending: PendingChanges, served: Served) -> Changes | None:
    """Wait for changes; None when what serves has ended before."""
    changes = None
    async with trio.open_nursery() as nursery:

        async def wait_ended() -> None:
            await served.ended.wait()
            nursery.cancel_scope.cancel()

        nursery.start_soon(wait_ended)
        changes = await pending.take()
        nursery.cancel_scope.cancel()
    return changes


async def _ask_for_restarts(
    requests: trio.MemoryReceiveChannel[None], pending: PendingChanges
) -> None:
    async for _ in requests:
        pending.add(Changes(()))


def _decides_imports(file: str) -> bool:
    """Return whether an app that could not be imported may be right after a change of ``file``."""
    return file.endswith(".py") or file == CONFIG_FILE or file.startswith(".env")


def _app_change(before: str, now: str) -> str:
    """Return why another app is served than ``before``; "" stands for the one of fxtrio."""
    return f"the app is {now} now" if now else f"there is no {before} any more"


def _settings(root: Path) -> Config:
    """Return the settings for the overlay; the defaults when they are the failure themselves."""
    try:
        return load_config(root)
    except FxtrioError:
        return Config()
