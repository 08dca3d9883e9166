"""Maps failures to the status and message for the client, and logs them."""

from __future__ import annotations

import logging
import traceback

from fxtrio.encode import NotSerializable, encode
from fxtrio.errors import Busy, LoaderError, NotFound, ValueInvalid
from fxtrio.serve.pages.html.document import error_document
from fxtrio.serve.pages.payload import PageProblem
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.response.error_response import (
    UNEXPECTED,
    retry_after_header,
    whole_seconds,
)
from fxtrio.serve.request.response.response import HTML, JSON, NO_STORE, Header, Reply
from fxtrio.serve.request.response.translated import translated
from fxtrio.serve.request.watchdog import DeadlinePassed
from fxtrio.ssr.errors import RenderFailed, RenderTimeout
from fxtrio.tracebacks import drop_tracebacks, trimmed

log = logging.getLogger("fx.serve")

DEFECT = PageProblem(UNEXPECTED, 500, "ServerError")
NOT_FOUND = PageProblem("This page could not be found.", 404, "NotFound")
"""An unmatched URL; with another message, a `NotFound` error."""


def repeated_header(name: bytes) -> PageProblem:
    """Return the problem of a client that repeats a header on which trust depends."""
    return PageProblem(f"The header {name.decode('latin-1')!r} is set twice.", 400, "BadRequest")


_EXPECTED = (LoaderError, RenderFailed, DeadlinePassed, RenderTimeout, Busy, ValueInvalid)
"""Errors whose message says it all."""


def problem_of(error: BaseException, *, development: bool) -> PageProblem:
    """Return the client's view of ``error``: in production only errors meant for the client.

    A LoaderError whose ``data`` cannot be encoded is logged here as a defect.
    """
    if isinstance(error, LoaderError):
        try:
            encode({"data": error.data}, place=f"LoaderError({error.message!r})")
        except NotSerializable as defect:
            log.error("%s", defect)
            return problem_of(defect, development=development)
        kind = NOT_FOUND.type if isinstance(error, NotFound) else "LoaderError"
        return PageProblem(error.message, error.status_code, kind, error.data)
    if isinstance(error, (DeadlinePassed, RenderTimeout)):
        text = str(error) if development else "The page took too long to load."
        return PageProblem(text, 504, "Timeout")
    if isinstance(error, Busy):
        wait = whole_seconds(error.retry_after)
        return PageProblem(error.message, 503, "Busy", retry_after=wait)
    if not development:
        return PageProblem(UNEXPECTED, 500, "ServerError")
    if isinstance(error, RenderFailed):
        return PageProblem(error.message, 500, error.name, {"stack": error.stack})
    if isinstance(error, ValueInvalid):
        return PageProblem(str(error), 500, type(error).__name__)
    stack = "".join(traceback.format_exception(trimmed(error)))
    return PageProblem(
        str(error) or type(error).__name__, 500, type(error).__name__, {"stack": stack}
    )


def log_failure(error: BaseException, place: str) -> None:
    """Log an unexpected failure, with its traceback where that helps.

    The traceback is then removed from the error: since Python 3.12 a finished frame references
    its callers, which reference the error, so all loaded data would wait for the garbage
    collector.
    """
    if isinstance(error, LoaderError):
        log.info("%s: %r (%d)", place, error.message, error.status_code)
    elif isinstance(error, RenderFailed):
        about = {"failure": error}
        log.error("%s: the render failed\n%s", place, error.stack, extra=about)
    elif isinstance(error, _EXPECTED):
        log.error("%s", error)
    else:
        log.error("%s failed", place, exc_info=trimmed(error))
    drop_tracebacks(error)


def plain_problem(site: Site, event: RequestEvent, problem: PageProblem) -> Reply:
    """Return a built-in error response, without any of the app's own pages."""
    headers: list[Header] = [NO_STORE]
    if problem.status == 503:
        headers.append(retry_after_header(problem.retry_after))
    if event.navigation:
        body = {
            "ok": False,
            "statusCode": problem.status,
            "error": translated(problem.message),
            "type": problem.type,
            "data": problem.data,
            "boundary": None,
        }
        return Reply(problem.status, encode(body, place="error"), JSON, [*headers, site.vary])
    details = str(problem.data.get("stack", "")) if site.development else ""
    reference = event.request_id.decode() if event.request_id else ""
    html = error_document(
        problem.status,
        problem.message,
        home=f"{site.base_url}/",
        details=details,
        reference=reference,
    )
    return Reply(problem.status, html, HTML, headers)
