"""Counts of requests and WebSockets, by the route that answers.

`RequestCounts` is on the way of every request: it adds to plain numbers, and whoever reads the
metrics turns them into families. What a client may choose freely is in no label: paths that no
route answers are one, and so are methods that HTTP does not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import Token
from time import perf_counter
from typing import Final

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.types import Scope

from fxtrio.plugins.metrics.durations import Durations, histogram
from fxtrio.routes.matched import SCOPE_KEY, STARLETTE_KEY, MatchedRoute
from fxtrio.spans import PartCounter, part_counter

METHODS: Final = frozenset(
    {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"}
)

NO_ROUTE: Final[tuple[str, str]] = ("other", "(none)")
"""Kind and route of what no route of the site answers: files, probes, made-up paths."""


class RequestCounts(Collector):
    """A `fxtrio.app_handle.RequestMeter`, and a collector of prometheus_client."""

    def __init__(self, parts: PartCounter) -> None:
        self._parts = parts
        self._under_way = 0
        self._sockets_open = 0
        self._requests: dict[tuple[str, str, str, int], Durations] = {}
        self._sockets: dict[tuple[str, ...], int] = {}

    def begin(self, scope: Scope) -> tuple[float, Token[PartCounter | None]]:
        """Count one that begins; its parts are counted, too."""
        if scope["type"] == "websocket":
            self._sockets_open += 1
        else:
            self._under_way += 1
        return perf_counter(), part_counter.set(self._parts)

    def end(
        self, scope: Scope, status: int, begun: tuple[float, Token[PartCounter | None]]
    ) -> None:
        """Count its end, by what has answered it."""
        began, token = begun
        part_counter.reset(token)
        matched: MatchedRoute | None = scope.get(SCOPE_KEY)
        kind: str
        if matched is not None:
            kind, route = matched.kind, matched.pattern or NO_ROUTE[1]
        elif STARLETTE_KEY in scope:
            kind, route = "route", scope[STARLETTE_KEY]
        else:
            kind, route = NO_ROUTE
        if scope["type"] == "websocket":
            self._sockets_open -= 1
            ended = route, str(status)
            self._sockets[ended] = self._sockets.get(ended, 0) + 1
            return
        self._under_way -= 1
        method = scope["method"]
        key = kind, route, method if method in METHODS else "(other)", status
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
            {(*key, str(status)): cell for (*key, status), cell in tuple(self._requests.items())},
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
