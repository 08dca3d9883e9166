"""Content-Security-Policy violations that browsers report, logged once per problem and hour.

Any client may send reports, so no report is logged verbatim, and clients do not decide how
much is logged or stored, neither singly nor together.
"""

from __future__ import annotations

import logging
import re
from collections import OrderedDict
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from fxtrio.errors import BodyTooLarge
from fxtrio.log_limit import Repeats
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.response.error_response import ErrorResponse, error_reply
from fxtrio.serve.request.response.response import NOTHING, Answer

log = logging.getLogger("fx.serve")

PATH: Final = "/api/__csp-report"

REPORT_LIMIT: Final = 64 * 1024
"""Largest body that is read (bytes)."""

REPORTS: Final = 20
"""Reports of one body that are looked at (count)."""

HOUR: Final = 3600.0
"""Time between two lines about the same problem (seconds)."""

PROBLEMS: Final = 256
"""Distinct problems that are tracked within the hour (count)."""

RATE: Final = 30
"""Bodies that are read of one address within a minute (count)."""

ADDRESSES: Final = 1024
"""Distinct addresses that are tracked; the least recently seen is evicted first."""

_MAX_PART = 120  # characters of each part of a problem
_REMEDIES = {
    "eval": "Libraries that only test whether it is allowed work without it: for zod, "
    "z.config({ jitless: true }) ends the report.",
    "inline": "Write <Script>, or give a library for its script what useNonce() returns.",
}


class CspProblem(msgspec.Struct, frozen=True):
    """A violation of the policy, without the parts that differ between visitors."""

    directive: str
    blocked: str
    """An origin, or a word such as ``inline``."""

    page: str
    """The path of the page."""

    def __str__(self) -> str:
        text = f"{self.page!r}: {self.directive} does not allow {self.blocked!r}"
        remedy = _REMEDIES.get(self.blocked) if self.directive.startswith("script-") else None
        return text if remedy is None else f"{text}. {remedy}"


OTHERS: Final = CspProblem("", "", "")
"""Represents all problems beyond the capacity."""


class _Body(msgspec.Struct):
    """Both forms of a report, with the names of either."""

    document_uri: str = msgspec.field(default="", name="document-uri")
    document_url: str = msgspec.field(default="", name="documentURL")
    blocked_uri: str = msgspec.field(default="", name="blocked-uri")
    blocked_url: str = msgspec.field(default="", name="blockedURL")
    effective: str = msgspec.field(default="", name="effective-directive")
    effective_directive: str = msgspec.field(default="", name="effectiveDirective")
    violated: str = msgspec.field(default="", name="violated-directive")


class _Single(msgspec.Struct):
    """``application/csp-report``."""

    report: _Body = msgspec.field(name="csp-report")


class _Entry(msgspec.Struct):
    """One of ``application/reports+json``."""

    type: str = ""
    body: Any = None


_DECODER = msgspec.json.Decoder(_Single | list[_Entry])


def parse_reports(body: bytes) -> list[CspProblem]:
    """Return the problems in a body of either media type, at most `REPORTS` of them.

    Raises msgspec.DecodeError when it is no report.
    """
    decoded = _DECODER.decode(body)
    if isinstance(decoded, _Single):
        return [_problem(decoded.report)]
    bodies = [entry.body for entry in decoded[:REPORTS] if entry.type == "csp-violation"]
    return [_problem(msgspec.convert(found, _Body)) for found in bodies]


def _problem(body: _Body) -> CspProblem:
    directive = body.effective_directive or body.effective or body.violated.partition(" ")[0]
    page = _split(body.document_url or body.document_uri)[1]
    return CspProblem(
        directive if re.fullmatch(r"[a-z][a-z-]{0,39}", directive) else "a directive",
        _split(body.blocked_url or body.blocked_uri)[0],
        page,
    )


def _split(url: str) -> tuple[str, str]:
    """Return origin and path of a URL; a word such as ``inline`` is an origin of its own."""
    if re.fullmatch(r"[a-z][a-z-]{0,29}", url):
        return url, ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "a URL", ""
    if not parts.netloc:  # data: and the like
        return (parts.scheme or "a URL")[:_MAX_PART], ""
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}"[:_MAX_PART], parts.path[:_MAX_PART]


class CspReports(msgspec.Struct):
    """Tracks which problems were logged, and how much each client reported. Times in seconds."""

    _logged: Repeats[CspProblem] = msgspec.field(default_factory=lambda: Repeats(HOUR, PROBLEMS))
    _heard: OrderedDict[str, tuple[float, int]] = msgspec.field(default_factory=OrderedDict)

    def may_report(self, address: str, now: float) -> bool:
        """Count a body of ``address``; return whether it is to be read."""
        since, bodies = self._heard.pop(address, (now, 0))
        if now - since >= 60:
            since, bodies = now, 0
        self._heard[address] = since, bodies + 1
        if len(self._heard) > ADDRESSES:
            self._heard.popitem(last=False)
        return bodies < RATE

    def add(self, problem: CspProblem, now: float) -> list[str]:
        """Return the log lines for a report: usually none."""
        lines = [_more(known, count) for known, count in self._logged.take_due(now)]
        if not self._logged.repeats(problem, now):
            if self._logged.add(problem, now):
                lines.append(str(problem))
            else:
                self._logged.count(OTHERS, now)
        return lines


def _more(problem: CspProblem, count: int) -> str:
    name = "other problems" if problem == OTHERS else str(problem)
    return f"{count} more within the hour: {name}"


async def answer_csp_report(reports: CspReports, event: RequestEvent, now: float) -> Answer:
    """Process a browser's report at the time ``now``, and log new problems."""
    # Other requests for pages have no body.
    from fxtrio.serve.request.bodies.body import read_body

    if event.scope["method"] != "POST":
        return Response(status_code=405, headers={"allow": "POST"})
    client = event.scope.get("client")
    if not reports.may_report(client[0] if client else "", now):
        return error_reply(ErrorResponse("Too many reports", 429))
    try:
        body = await read_body(event.receive, event.headers, limit=REPORT_LIMIT)
        problems = parse_reports(body)
    except BodyTooLarge as error:
        return error_reply(ErrorResponse(error.message, error.status_code))
    except ClientDisconnect:
        return NOTHING
    except (msgspec.MsgspecError, ValueError, RecursionError):  # not UTF-8 is a ValueError
        return error_reply(ErrorResponse("This is no report of a Content-Security-Policy", 400))
    for problem in problems:
        for line in reports.add(problem, now):
            log.warning("content security policy: %s", line)
    return Response(status_code=204)
