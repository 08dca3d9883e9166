"""What is known of a defect: made where the framework logs it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard

import attrs

from fxtrio.context import current
from fxtrio.errors import Busy, FxtrioError
from fxtrio.routes.matched import SCOPE_KEY, STARLETTE_KEY, MatchedRoute
from fxtrio.ssr.errors import RenderFailed, place_in_stack
from fxtrio.tracebacks import Tracebacks, place_in_application, tracebacks_of

log = logging.getLogger("fx.errors")


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
    """The pattern of the route, such as ``/book/[id]``; "" outside of requests."""

    user_id: str | None = None
    """Of the account that is signed in."""

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
    scope: Mapping[str, Any] = {} if context is None or context.scope is None else context.scope
    return ErrorReport(
        error=error,
        message=message,
        logger=logger,
        place=_place(error, root),
        request_id=None if context is None else context.request_id,
        method=scope.get("method", ""),
        route=_route(scope),
        user_id=_user_id(scope),
        release=release,
        tracebacks=tracebacks_of(error),
    )


def _place(error: BaseException, root: Path) -> str:
    if isinstance(error, RenderFailed):
        file, line, _ = place_in_stack(error.stack, root)
        return f"{Path(file).relative_to(root).as_posix()}:{line}" if file else ""
    # What a function has returned has no line of its own; the error names the function.
    named = getattr(error, "place", "") if isinstance(error, FxtrioError) else ""
    return place_in_application(error, root) or str(named)


def _route(scope: Mapping[str, Any]) -> str:
    matched = scope.get(SCOPE_KEY)
    if isinstance(matched, MatchedRoute):
        return matched.pattern or ""
    return str(scope.get(STARLETTE_KEY, ""))


def _user_id(scope: Mapping[str, Any]) -> str | None:
    user = scope.get("state", {}).get("user")
    try:
        found = getattr(user, "id", None)
        return None if found is None else str(found)
    except Exception as error:  # the application's class; a report without it is worth more
        log.warning("the id of the user cannot be read: %r", error)
        return None
