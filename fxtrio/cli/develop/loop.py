"""Build, serve, watch, and again. Run by `fx dev`."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

import attrs
import trio

from fxtrio.cli.develop.overlay import Failure
from fxtrio.cli.develop.serving import Served, Server, open_child, open_overlay
from fxtrio.cli.develop.watch import PendingChanges, run_watch
from fxtrio.cli.output import leaves
from fxtrio.config import Config, load_config
from fxtrio.errors import FxtrioError


class Reporter(Protocol):
    """Shows the developer what happens."""

    def built(self, seconds: float) -> None:
        """Say that the app has been built."""

    def started(self, seconds: float) -> None:
        """Say that the app serves."""

    def changed(self, files: tuple[str, ...]) -> None:
        """Say which files have changed."""

    def failed(self, failure: Failure) -> None:
        """Show why there is no app; what the child itself wrote has been shown already."""

    def line(self, text: str) -> None:
        """Pass on a line of the app or of the build."""


@attrs.frozen(kw_only=True)
class Loop:
    """One run of `fx dev`."""

    root: Path
    app: str
    host: str = "localhost"
    """The name that the app is asked for by, besides those of the settings."""

    listener: socket.socket
    """Stays open all the time, so that browsers wait instead of being refused."""

    build: Callable[[], Awaitable[object]]
    """Makes the development build. Raises FxtrioError when it cannot."""

    report: Reporter
    watch: Callable[[Path, PendingChanges], Awaitable[None]] = run_watch

    async def run(self) -> None:
        """Serve the project and follow its changes until cancelled."""
        pending = PendingChanges()
        versions = map(str, itertools.count(1))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.watch, self.root, pending)
            failure = await self._build()
            for version in versions:
                started = trio.current_time()
                async with self._serve(failure, version) as served:
                    if failure is None and not served.ended.is_set():
                        self.report.started(trio.current_time() - started)
                    failure = await self._next(pending, served, failure)

    def _serve(self, failure: Failure | None, version: str) -> AbstractAsyncContextManager[Served]:
        if failure is None:
            server = Server(
                root=self.root,
                app=self.app,
                host=self.host,
                socket=self.listener,
                echo=self.report.line,
            )
            return open_child(server, version)
        settings = _settings(self.root)
        return open_overlay(
            self.listener, failure, version=version, settings=settings, host=self.host
        )

    async def _next(
        self, pending: PendingChanges, served: Served, failure: Failure | None
    ) -> Failure | None:
        """Wait until something else is to be served; return the failure to show, or None."""
        changes = None
        async with trio.open_nursery() as nursery:

            async def wait_ended() -> None:
                await served.ended.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(wait_ended)
            changes = await pending.take()
            nursery.cancel_scope.cancel()
        if changes is None:
            stopped = served.failure or Failure("The app has stopped", "")
            self.report.failed(attrs.evolve(stopped, details=""))
            return stopped
        self.report.changed(changes.files)
        if changes.build or failure is not None:
            return await self._build("\n".join(served.lines))
        return None

    async def _build(self, shown: str = "") -> Failure | None:
        """Build; return the failure to show, or None.

        ``shown`` is what the child has written. It may have been started by settings that
        keep it from serving, and the build from succeeding: those are not told twice.
        """
        started = trio.current_time()
        errors: list[BaseException] = []
        try:
            await self.build()
        except* FxtrioError as group:
            errors = leaves(group)
        if errors:
            failure = Failure("The build has failed", "\n".join(map(str, errors)))
            known = failure.details in shown
            self.report.failed(attrs.evolve(failure, details="") if known else failure)
            return failure
        self.report.built(trio.current_time() - started)
        return None


def _settings(root: Path) -> Config:
    """Return the settings for the overlay; the defaults when they are the failure themselves."""
    try:
        return load_config(root)
    except FxtrioError:
        return Config()
