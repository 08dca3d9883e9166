"""The plugin: what counts while the app runs, and where the counts are read."""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import trio
from prometheus_client import REGISTRY, Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from fxtrio.app_handle import App
from fxtrio.context import processes
from fxtrio.errors import AppNotRunning
from fxtrio.plugins.guard import Guard, guarded, resolve_guard
from fxtrio.plugins.metrics.app_state import AppState, LoopDelay, shared_families
from fxtrio.plugins.metrics.durations import BOUNDS, Durations, histogram
from fxtrio.plugins.metrics.listener import CONTENT_TYPE, run_listener
from fxtrio.plugins.metrics.requests import RequestCounts
from fxtrio.plugins.metrics.snapshot import Snapshot, add_up, as_text, take
from fxtrio.plugins.metrics.worker_files import WorkerFiles, open_worker_files, shared_folder
from fxtrio.plugins.protocol import NoSettings, Plugin
from fxtrio.spans import LEAVES, SpanKind
from fxtrio.tracebacks import trimmed

PUBLISHED = 2.0
"""How often a process writes what it has counted, which is lost if it is killed (seconds)."""

log = logging.getLogger("fx.app")


@attrs.frozen(eq=False)
class Metrics:
    """The metrics of a running app."""

    app: App
    collectors: Sequence[Collector]
    files: WorkerFiles | None
    """Where several processes serve the app."""

    guard: Guard | None
    threads: trio.CapacityLimiter = attrs.field(factory=partial(trio.CapacityLimiter, 1))

    def own(self) -> Snapshot:
        """Return what this process has counted, by the application's own metrics as well."""
        found = take(self.collectors)
        try:
            found += take([REGISTRY])
        except Exception as error:  # a collector of the application
            log.error("the application's own metrics cannot be read", exc_info=trimmed(error))
        return found

    async def text(self) -> bytes:
        """Return the metrics of all processes; of this one where the others' cannot be read."""
        own = self.own()
        shared = take([_Listed(await shared_families(self.app))])
        if self.files is not None:
            try:
                own = await trio.to_thread.run_sync(
                    self.files.gather, own, abandon_on_cancel=True, limiter=self.threads
                )
            except OSError as error:
                _log_unusable(self.files, error)
        return as_text(add_up([own, shared]))

    async def publish_often(self, files: WorkerFiles) -> None:
        """Write what this process has counted, until cancelled."""
        while True:
            try:
                await trio.to_thread.run_sync(files.publish, self.own(), limiter=self.threads)
            except OSError as error:  # its disk is full, or somebody has tidied up
                _log_unusable(files, error)
            await trio.sleep(PUBLISHED)


def _log_unusable(files: WorkerFiles, error: OSError) -> None:
    log.error("metrics: %s cannot be used: %s", files.folder, error.strerror or error)


@attrs.frozen
class _Listed(Collector):
    families: Sequence[Any]

    def collect(self) -> Sequence[Any]:
        return self.families


class MetricsPlugin(Plugin[NoSettings]):
    """Serves the metrics that `observability.metrics` of the settings asks for."""

    name = "metrics"
    of_setting = "observability.metrics"
    _metrics: Metrics | None = None
    _isolated = False

    def isolate(self, folder: Path) -> None:
        """Open no listener in tests: several may run at the same time."""
        self._isolated = True

    @asynccontextmanager
    async def open(self, app: App) -> AsyncIterator[Metrics]:
        """Count while the block lasts. Raises GuardInvalid and MetricsFolderUnusable."""
        settings = self.config.observability
        guard = self._guard(app)
        parts, delay = PartCounts(), LoopDelay()
        counts = RequestCounts(parts)
        collectors: list[Collector] = [counts, parts, delay, AppState(app)]
        several = processes.get() > 1
        with open_worker_files(shared_folder()) if several else nullcontext() as files:
            self._metrics = metrics = Metrics(app, collectors, files, guard)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(delay.run, name="metrics.loop_delay")
                if files is not None:
                    nursery.start_soon(metrics.publish_often, files, name="metrics.publish")
                if guard is None and not self._isolated:
                    listener = partial(
                        run_listener, settings.metrics_bind, settings.metrics, metrics.text, files
                    )
                    nursery.start_soon(listener, name="metrics.listener")
                try:
                    with app.metered_by(counts):
                        yield metrics
                finally:
                    self._metrics = None
                    nursery.cancel_scope.cancel("the app ends")
            if files is not None:  # the last requests, too; nobody adds to it any more
                try:
                    files.publish(metrics.own())
                except OSError as error:
                    _log_unusable(files, error)

    def routes(self) -> Sequence[BaseRoute]:
        """Return the route behind the guard, if there is one."""
        settings = self.config.observability
        if not settings.metrics_guard:
            return ()
        return (Route(settings.metrics, self._answer, methods=["GET"], name="fx.metrics"),)

    def _guard(self, app: App) -> Guard | None:
        name = self.config.observability.metrics_guard
        return resolve_guard("observability.metricsGuard", name, app.resolve) if name else None

    async def _answer(self, request: Request) -> Response:
        metrics = self._metrics
        if metrics is None or metrics.guard is None:
            raise AppNotRunning

        async def answer(_: Request) -> Response:
            headers = {"content-type": CONTENT_TYPE, "cache-control": "no-store"}
            return Response(await metrics.text(), headers=headers)

        return await guarded(metrics.guard, request, answer)


_NAMED: frozenset[SpanKind] = frozenset(
    {"hook", "loader", "deferred", "action", "endpoint", "stream", "render", "job"}
)
_COUNTED = frozenset({*_NAMED, *LEAVES})


class PartCounts(Collector):
    """How long the parts of requests and jobs take: loaders, actions, renders, queries and others.

    It is a `fxtrio.spans.PartCounter`, and a collector of prometheus_client. Parts are named by
    the files and functions of the application, so there is one series for each of these. Queries
    and messages have no name here: SQL may be put together from anything.
    """

    def __init__(self) -> None:
        self._parts: dict[tuple[SpanKind, str, bool], Durations] = {}

    def count(self, kind: SpanKind, name: str, seconds: float, failed: bool) -> None:
        """Count a part that has ended."""
        key = kind, name if kind in _NAMED else "", failed
        cell = self._parts.get(key)
        if cell is None:
            cell = self._parts.setdefault(key, Durations())
        cell.counts[bisect_left(BOUNDS, seconds)] += 1  # `add`, without a call
        cell.seconds += seconds

    def collect(self) -> Iterator[Metric]:
        """Yield the one family."""
        yield histogram(
            "fx_part_seconds",
            "Time of a part of a request or job.",
            ("part", "name", "failed"),
            {
                (kind, name, "yes" if failed else "no"): cell
                for (kind, name, failed), cell in tuple(self._parts.items())
                if kind in _COUNTED
            },
        )
