"""What browsers report of the Content-Security-Policy, told once per problem and hour.

Anybody may send reports: so nothing of one is written as it came, and neither one client
nor all together decide how much is written or remembered.
"""

from __future__ import annotations

import logging
import re
from collections import OrderedDict
from typing import Any, Final
from urllib.parse import urlsplit

import attrs
import msgspec
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from fxtrio.errors import BodyTooLarge
from fxtrio.log_limit import Repeats
from fxtrio.serve.request.bodies.body import read_body
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.response.error_response import Refused, refusal_reply
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
"""Problems that are told apart within the hour (count)."""

RATE: Final = 30
"""Bodies that are read of one address within a minute (count)."""

ADDRESSES: Final = 1024
"""Addresses that are told apart; the one that was heard of longest ago is forgotten first."""

_SHOWN = 120  # characters of each part of a problem
_DIRECTIVE = re.compile(r"[a-z][a-z-]{0,39}")
_KEYWORD = re.compile(r"[a-z][a-z-]{0,29}")
_REMEDIES = {
    "eval": "Libraries that only try whether they may go on without it: for zod, "
    "z.config({ jitless: true }) ends the report.",
    "inline": "Write <Script>, or give a library for its script what useNonce() returns.",
}


@attrs.frozen
class CspProblem:
    """What a policy has found, without what differs from visitor to visitor."""

    directive: str
    blocked: str
    """An origin, or a word such as ``inline``."""

    page: str
    """The path of the page."""

    def __str__(self) -> str:
        told = f"{self.page!r}: {self.directive} does not allow {self.blocked!r}"
        remedy = _REMEDIES.get(self.blocked) if self.directive.startswith("script-") else None
        return told if remedy is None else f"{told}. {remedy}"


OTHERS: Final = CspProblem("", "", "")
"""Stands for what there was no room for."""


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
        directive if _DIRECTIVE.fullmatch(directive) else "a directive",
        _split(body.blocked_url or body.blocked_uri)[0],
        page,
    )


def _split(url: str) -> tuple[str, str]:
    """Return origin and path of a URL; a word such as ``inline`` is an origin of its own."""
    if _KEYWORD.fullmatch(url):
        return url, ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "a URL", ""
    if not parts.netloc:  # data: and the like
        return (parts.scheme or "a URL")[:_SHOWN], ""
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}"[:_SHOWN], parts.path[:_SHOWN]


@attrs.define
class CspReports:
    """Remembers what was told, and who has reported how much. All times in seconds."""

    _told: Repeats[CspProblem] = attrs.field(init=False, factory=lambda: Repeats(HOUR, PROBLEMS))
    _heard: OrderedDict[str, tuple[float, int]] = attrs.field(init=False, factory=OrderedDict)

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
        """Return the lines that a report gives rise to: none, mostly."""
        lines = [_more(known, count) for known, count in self._told.take_due(now)]
        if not self._told.repeats(problem, now):
            if self._told.add(problem, now):
                lines.append(str(problem))
            else:
                self._told.count(OTHERS, now)
        return lines


def _more(problem: CspProblem, count: int) -> str:
    shown = "other problems" if problem == OTHERS else str(problem)
    return f"{count} more within the hour: {shown}"


async def answer_csp_report(reports: CspReports, event: RequestEvent, now: float) -> Answer:
    """Take what a browser reports, at the time ``now``, and tell what is new in it."""
    if event.scope["method"] != "POST":
        return Response(status_code=405, headers={"allow": "POST"})
    client = event.scope.get("client")
    if not reports.may_report(client[0] if client else "", now):
        return refusal_reply(Refused("Too many reports", 429))
    try:
        body = await read_body(event.receive, event.headers, limit=REPORT_LIMIT)
        problems = parse_reports(body)
    except BodyTooLarge as error:
        return refusal_reply(Refused(error.message, error.status_code))
    except ClientDisconnect:
        return NOTHING
    except (msgspec.MsgspecError, ValueError, RecursionError):  # not UTF-8 is a ValueError
        return refusal_reply(Refused("This is no report of a Content-Security-Policy", 400))
    for problem in problems:
        for line in reports.add(problem, now):
            log.warning("content security policy: %s", line)
    return Response(status_code=204)
