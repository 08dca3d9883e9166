"""Where the time of the last requests and jobs went: their parts, and headers.

`Timings` listens to the app. What it keeps is bounded: the oldest request leaves for a new one.
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from typing import Any

import attrs

from fxtrio.spans import Span

_dev_log = logging.getLogger("fx.dev")

_REQUESTS = 200
"""Requests and jobs that are kept (count)."""

_PARTS = 300
"""Parts of one that are kept, and different queries; further parts are counted (count)."""

_IN_HEADER = 24
"""Parts that `Server-Timing` names: browsers and proxies bound their headers (count)."""

REPEATED = 5
"""A query that one request makes so often with other values only is reported (count)."""


@attrs.define(eq=False)
class Timing:
    """One request or job, and its parts in the order in which they began."""

    root: Span
    parts: list[Span] = attrs.field(factory=list)
    omitted: int = 0
    """Parts that were not kept."""

    queries: Counter[tuple[str, str]] = attrs.field(factory=Counter)
    """How often a query was made, by its shape and the line that has asked."""

    def repeated(self) -> list[dict[str, Any]]:
        """Return the queries that look as if they ran once for each row of another."""
        return [
            {"sql": sql, "place": place, "count": count}
            for (sql, place), count in self.queries.most_common()
            if count >= REPEATED
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return it for browsers: times in milliseconds since its beginning."""
        numbers = {id(span): number for number, span in enumerate(self.parts)}
        return {
            "kind": self.root.kind,
            "name": self.root.name,
            "request": str(self.root.values.get("request", "")),
            "status": self.root.values.get("status"),
            "ms": _ms(self.root, self.root)[1],
            "parts": [
                {
                    "kind": span.kind,
                    "name": span.name,
                    "place": span.place,
                    "start": _ms(span, self.root)[0],
                    "ms": _ms(span, self.root)[1],
                    "rows": span.values.get("rows"),
                    "error": span.error or "",
                    "parent": numbers.get(id(span.parent)),
                }
                for span in self.parts
            ],
            "omitted": self.omitted,
            "repeated": self.repeated(),
        }


def _ms(span: Span, root: Span) -> tuple[float, float | None]:
    """Return when a span began and how long it took; None while it runs."""
    took = round((span.ended - span.began) * 1000, 2) if span.ended else None
    return round((span.began - root.began) * 1000, 2), took


class Timings:
    """A listener of an app, for `fx dev` and Studio."""

    def __init__(self, *, hidden: str = "", log: logging.Logger | None = _dev_log) -> None:
        """Requests of the path ``hidden`` and below are left out: those of Studio itself.

        Queries that are repeated are reported to ``log``.
        """
        self._hidden = hidden
        self._log = log
        self.ended = 0
        """Requests and jobs that have ended (count)."""

        self._named: set[str] = set()
        """Lines of the application; there are only so many."""

        self._latest: OrderedDict[int, Timing] = OrderedDict()

    def begin(self, span: Span) -> None:
        """Keep a part with its request."""
        if span.parent is None:
            request = span.states[self] = Timing(span)
            self._latest[id(request)] = request
            if len(self._latest) > _REQUESTS:
                _, oldest = self._latest.popitem(last=False)
                oldest.root.states.pop(self, None)  # they refer to each other
            return
        timing = self.of(span)
        if timing is None:
            return
        query = span.name, span.place
        if span.kind == "query" and (query in timing.queries or len(timing.queries) < _PARTS):
            timing.queries[query] += 1
        if len(timing.parts) < _PARTS:
            timing.parts.append(span)
        else:
            timing.omitted += 1

    def end(self, span: Span) -> None:
        """Log the repeated queries of a request, once for each place."""
        if span.parent is not None:
            return
        if not self._is_hidden(span):
            self.ended += 1
        timing = self.of(span)
        for query in () if timing is None else timing.repeated():
            if self._log is not None and query["place"] not in self._named:
                self._named.add(query["place"])
                self._log.warning(
                    "%s: %s made this query %d times: %s. Fetch all the rows with one query.",
                    query["place"],
                    span.name,
                    query["count"],
                    query["sql"],
                )

    def carry(self, span: Span) -> str | None:
        """Carry nothing."""
        return None

    def of(self, span: Span) -> Timing | None:
        """Return the timing of the request that a span belongs to, if it is still stored."""
        timing: Timing | None = span.root.states.get(self)
        return timing

    def latest(self) -> list[Timing]:
        """Return the stored timings, the newest first."""
        return [one for one in reversed(self._latest.values()) if not self._is_hidden(one.root)]

    def _is_hidden(self, root: Span) -> bool:
        named = f"{root.name.partition(' ')[2]}/"
        return bool(self._hidden) and named.startswith(f"{self._hidden}/")


def server_timing(timing: Timing, now: float) -> list[bytes]:
    """Return the entries of `Server-Timing`, by which browsers' own tools show the parts."""
    entries = []
    for number, span in enumerate(timing.parts[:_IN_HEADER]):
        took = (span.ended or now) - span.began
        start = (span.began - timing.root.began) * 1000
        said = f"{span.kind} {span.name} {span.place}".strip()[:80]
        description = "".join(c if " " <= c <= "~" and c not in '"\\' else " " for c in said)
        entries.append(
            f'{span.kind}{number};dur={took * 1000:.1f};desc="+{start:.0f} {description}"'.encode()
        )
    return entries
