"""The report of a defect, created where the framework logs it."""

from __future__ import annotations

from pathlib import Path
from typing import TypeGuard

import attrs

from fxtrio.context import RequestContext, current
from fxtrio.errors import Busy, FxtrioError
from fxtrio.requester import requester_of
from fxtrio.ssr.errors import RenderFailed, place_in_stack
from fxtrio.tracebacks import Tracebacks, place_in_application, tracebacks_of


@attrs.frozen(kw_only=True, eq=False)
class ErrorReport:
    """A defect. Nothing in it was sent by a visitor, unless the error itself quotes it."""

    error: BaseException
    """With its traceback, which begins in the application's code."""

    message: str
    """The line of the log: what failed."""

    logger: str
    """The part of the framework that logged it, such as ``fx.serve`` or ``fx.tasks``."""

    place: str = ""
    """File, line and function of the application that it came from at last:
    ``pages/book.fxl:11 load``. "" if none was involved."""

    request_id: str | None = None
    """Of the request, or of the one that the job came from."""

    method: str = ""
    route: str = ""
    """The pattern of the route, such as ``/book/[id]``; "" outside of requests and their jobs."""

    user_id: str | None = None
    """Of the account that is signed in, or was when the job was enqueued."""

    release: str = ""
    """`observability.release`, or else the id of the build."""

    tracebacks: Tracebacks = attrs.field(default=(), repr=False)
    """Those of ``error`` and its causes; whoever logs an error may drop them afterwards."""


def is_defect(error: BaseException | None) -> TypeGuard[BaseException]:
    """Whether an error that was logged is one; an overload is none."""
    return error is not None and not isinstance(error, Busy)


def report_of(
    error: BaseException, *, message: str, logger: str, release: str, root: Path
) -> ErrorReport:
    """Return the report of a defect that is logged right now.

    ``root`` is the project folder, from which files are named.
    """
    context = current.get()
    requester = requester_of(context)
    return ErrorReport(
        error=error,
        message=message,
        logger=logger,
        place=_place(error, root),
        request_id=_request_id(context),
        method=requester.method,
        route=requester.route,
        user_id=requester.user_id,
        release=release,
        tracebacks=tracebacks_of(error),
    )


def _request_id(context: RequestContext | None) -> str | None:
    if context is None or context.request_id is not None or context.scope is None:
        return None if context is None else context.request_id
    # Of middleware, which stands in front of what gives a request its id.
    found: str | None = (context.scope.get("state") or {}).get("request_id")
    return found


def _place(error: BaseException, root: Path) -> str:
    if isinstance(error, RenderFailed):
        file, line, _ = place_in_stack(error.stack, root)
        return f"{Path(file).relative_to(root).as_posix()}:{line}" if file else ""
    # What a function has returned has no line of its own; the error names the function.
    named = getattr(error, "place", "") if isinstance(error, FxtrioError) else ""
    return place_in_application(error, root) or str(named)
