"""Counts of requests and WebSockets, by the route that answers.

`RequestCounts` is on the way of every request: it adds to plain numbers, and whoever reads the
metrics turns them into families. What a client may choose freely is in no label: paths that no
route answers are one, and so are methods that HTTP does not have.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from time import perf_counter
from typing import Final

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from starlette.types import Scope

from fxtrio.routes.matched import SCOPE_KEY, STARLETTE_KEY, MatchedRoute

BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the buckets of durations (seconds)."""

METHODS: Final = frozenset(
    {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"}
)

NO_ROUTE: Final[tuple[str, str]] = ("other", "(none)")
"""Kind and route of what no route of the site answers: files, probes, made-up paths."""


class Durations:
    """A histogram, as plain numbers."""

    __slots__ = ("counts", "seconds")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        """By bucket, the last one without a bound; not added up."""

        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """Return the counts up to each bound, as Prometheus wants them."""
        total, found = 0.0, []
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self.counts, strict=True):
            total += count
            found.append((bound, total))
        return found


def histogram(
    name: str, text: str, labels: tuple[str, ...], cells: dict[tuple[str, ...], Durations]
) -> Metric:
    """Return the family of a histogram, with a sample for each of ``cells``."""
    family = Metric(name, text, "histogram")
    for values, cell in tuple(cells.items()):
        named = dict(zip(labels, values, strict=True))
        buckets = cell.buckets()
        for bound, count in buckets:
            family.add_sample(f"{name}_bucket", {**named, "le": bound}, count)
        family.add_sample(f"{name}_count", named, buckets[-1][1])
        family.add_sample(f"{name}_sum", named, cell.seconds)
    return family


class RequestCounts:
    """A `fxtrio.app_handle.RequestMeter`, and a collector of prometheus_client."""

    def __init__(self) -> None:
        self._under_way = 0
        self._sockets_open = 0
        self._requests: dict[tuple[str, ...], Durations] = {}
        self._sockets: dict[tuple[str, ...], int] = {}

    def begin(self, scope: Scope) -> float:
        """Count one that begins."""
        if scope["type"] == "websocket":
            self._sockets_open += 1
        else:
            self._under_way += 1
        return perf_counter()

    def end(self, scope: Scope, status: int, began: float) -> None:
        """Count its end, by what has answered it."""
        matched: MatchedRoute | None = scope.get(SCOPE_KEY)
        kind, route = NO_ROUTE
        if matched is not None:
            kind, route = matched.kind, matched.pattern or route
        elif STARLETTE_KEY in scope:
            kind, route = "route", scope[STARLETTE_KEY]
        if scope["type"] == "websocket":
            self._sockets_open -= 1
            ended = route, str(status)
            self._sockets[ended] = self._sockets.get(ended, 0) + 1
            return
        self._under_way -= 1
        method = scope["method"]
        key = kind, route, method if method in METHODS else "(other)", str(status)
        cell = self._requests.get(key)
        if cell is None:
            cell = self._requests[key] = Durations()
        cell.add(perf_counter() - began)

    def collect(self) -> Iterator[Metric]:
        """Yield the families."""
        yield histogram(
            "fx_request_seconds",
            "Time from a request to the end of its response.",
            ("kind", "route", "method", "status"),
            self._requests,
        )
        yield GaugeMetricFamily(
            "fx_requests_under_way", "Requests that have not ended.", self._under_way
        )
        yield GaugeMetricFamily("fx_websockets_open", "WebSockets open.", self._sockets_open)
        ended = CounterMetricFamily(
            "fx_websockets", "WebSockets that have ended.", labels=("route", "status")
        )
        for labels, count in tuple(self._sockets.items()):
            ended.add_metric(labels, count)
        yield ended
