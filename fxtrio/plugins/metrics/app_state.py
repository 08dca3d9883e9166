"""What one process knows of its parts at the moment somebody asks: queues, pools, renders.

Nothing of it is counted for the metrics: the parts count for themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import perf_counter

import trio
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from fxtrio.app_handle import App
from fxtrio.db.database import limited
from fxtrio.jobs.admin import count_unfinished
from fxtrio.jobs.store import JobStore
from fxtrio.plugins.metrics.durations import Durations, histogram
from fxtrio.realtime.stores.memory import MemoryBroker
from fxtrio.realtime.stores.store_broker import SharedBroker
from fxtrio.receive_budget import process_unreceived
from fxtrio.send_budget import process_unsent

LOOK = 0.25
"""Time between two looks at how late the event loop is (seconds)."""

_JOBS_LIMIT = 2.0  # for the database to count jobs, in seconds

Labelled = Iterable[tuple[tuple[str, ...], float]]


def _gauge(name: str, text: str, labels: tuple[str, ...], values: Labelled) -> Metric:
    family = GaugeMetricFamily(name, text, labels=labels)
    for named, value in values:
        family.add_metric(named, value)
    return family


def _counter(name: str, text: str, labels: tuple[str, ...], values: Labelled) -> Metric:
    family = CounterMetricFamily(name, text, labels=labels)
    for named, value in values:
        family.add_metric(named, value)
    return family


class LoopDelay(Collector):
    """How late the event loop runs a task that is due, which is how long other tasks block it."""

    def __init__(self) -> None:
        self._delays: dict[tuple[str, ...], Durations] = {(): Durations()}

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            before = perf_counter()
            await trio.sleep(LOOK)
            self._delays[()].add(max(perf_counter() - before - LOOK, 0.0))

    def collect(self) -> Iterator[Metric]:
        """Yield the one family."""
        text = "Delay of tasks that were due on the event loop."
        yield histogram("fx_loop_delay_seconds", text, (), self._delays)


class AppState(Collector):
    """A collector of prometheus_client for the parts of a running app. Read on its event loop."""

    def __init__(self, app: App) -> None:
        self._app = app

    def collect(self) -> Iterator[Metric]:
        """Yield the families."""
        yield from self._loop()
        yield from self._tasks()
        yield from self._database()
        yield from self._broker()
        yield from self._renderer()
        yield from self._memory()

    def _loop(self) -> Iterator[Metric]:
        tasks = trio.lowlevel.current_statistics().tasks_living
        yield GaugeMetricFamily("fx_trio_tasks", "Trio tasks that exist.", tasks)

    def _tasks(self) -> Iterator[Metric]:
        found = self._app.tasks.statistics()
        now = ((("waiting",), found.waiting), (("running",), found.running))
        yield _gauge("fx_tasks", "In-memory jobs.", ("state",), now)
        yield GaugeMetricFamily(
            "fx_tasks_capacity", "In-memory jobs that may wait.", found.capacity
        )
        ended = (
            (("completed",), found.completed),
            (("failed",), found.failed),
            (("cancelled",), found.cancelled),
        )
        yield _counter("fx_tasks_ended", "In-memory jobs that have ended.", ("outcome",), ended)
        if self._app.jobs is None:
            return
        jobs = self._app.jobs.statistics()
        yield GaugeMetricFamily(
            "fx_jobs_running", "Durable jobs that run in these processes.", jobs.running
        )
        outcomes = ("done", "retried", "failed", "lost", "returned")
        yield _counter(
            "fx_jobs_ended",
            "Runs of durable jobs that ended.",
            ("outcome",),
            (((name,), getattr(jobs, name)) for name in outcomes),
        )

    def _database(self) -> Iterator[Metric]:
        if self._app.database is None:
            return
        pools = self._app.database.statistics()
        yield _gauge(
            "fx_database_connections",
            "Connections of the pool, by what they are for.",
            ("pool", "state"),
            (
                ((pool, state), getattr(found, state))
                for pool, found in pools.items()
                for state in ("lent", "idle")
            ),
        )
        per_pool = (
            ("fx_database_pool_size", "Connections that the pool may open.", _gauge, "size"),
            ("fx_database_waiting", "Tasks that wait for a connection.", _gauge, "waiting"),
            ("fx_database_waits", "Waits for a connection.", _counter, "waited"),
            (
                "fx_database_wait_seconds",
                "Time waited for a connection.",
                _counter,
                "waited_seconds",
            ),
            ("fx_database_refused", "Waits that were rejected.", _counter, "refused"),
        )
        for name, text, make, attribute in per_pool:
            values = (((pool,), getattr(found, attribute)) for pool, found in pools.items())
            yield make(name, text, ("pool",), values)

    def _broker(self) -> Iterator[Metric]:
        broker = self._app.broker
        if isinstance(broker, MemoryBroker | SharedBroker):
            found = broker.statistics()
            yield GaugeMetricFamily("fx_channels", "Channels with subscribers.", found.channels)
            text = "Subscriptions of channels."
            yield GaugeMetricFamily("fx_subscriptions", text, found.subscriptions)
            yield CounterMetricFamily("fx_published", "Messages published.", found.published)
        if isinstance(broker, SharedBroker):
            text = "Processes that are connected to the broker."
            yield GaugeMetricFamily("fx_broker_connected", text, int(broker.connected))
        streams = self._app.statistics["streams"]()
        yield GaugeMetricFamily("fx_streams_open", "Open event streams.", streams)

    def _renderer(self) -> Iterator[Metric]:
        statistics = self._app.statistics
        if "renderer" in statistics:
            found = statistics["renderer"]()
            yield GaugeMetricFamily(
                "fx_node_processes", "Render workers that are ready.", len(found.pids)
            )
            yield CounterMetricFamily(
                "fx_node_restarts", "Render workers that were replaced.", found.restarts
            )
            now = ((("pending",), found.pending), (("waiting",), found.waiting))
            yield _gauge("fx_renders", "Renders that have not ended.", ("state",), now)
            outcomes = ("rendered", "failed", "timeouts", "crashes", "retried", "refused")
            ended = (((name,), getattr(found, name)) for name in outcomes)
            yield _counter("fx_renders_ended", "Renders that ended.", ("outcome",), ended)
        if "cache" in statistics:
            stored = statistics["cache"]()
            yield GaugeMetricFamily("fx_cache_responses", "Responses stored.", stored.entries)
            yield GaugeMetricFamily("fx_cache_bytes", "Bytes of stored responses.", stored.size)

    def _memory(self) -> Iterator[Metric]:
        used = (
            (("unsent",), float(process_unsent.used)),
            (("unreceived",), float(process_unreceived.used)),
        )
        text = "Bytes that wait for clients to read, or for handlers."
        yield _gauge("fx_buffered_bytes", text, ("buffer",), used)


async def shared_families(app: App) -> list[Metric]:
    """Return the metrics of durable jobs; only one process needs to report them.

    Nothing while the database does not answer; `/readyz` says so.
    """
    if app.database is None or app.jobs is None:
        return []
    store = JobStore(limited(app.database.reserve(), _JOBS_LIMIT))
    try:
        rows = await count_unfinished(store)
    except trio.TooSlowError:
        return []
    except Exception as error:
        if app.database.cannot_work(error):
            return []
        raise
    now = app.jobs.now()
    counts = (((row["queue"], row["state"]), float(row["jobs"])) for row in rows)
    ages = (
        ((row["queue"],), max(now - row["due"], 0.0)) for row in rows if row["state"] == "waiting"
    )
    return [
        _gauge("fx_jobs", "Durable jobs that are not done.", ("queue", "state"), counts),
        _gauge(
            "fx_jobs_oldest_seconds",
            "How long the oldest waiting job has been due.",
            ("queue",),
            ages,
        ),
    ]
