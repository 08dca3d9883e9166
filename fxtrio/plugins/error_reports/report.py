"""What is known of a defect: made of the record that the framework logs, where it is logged."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from fxtrio.context import current
from fxtrio.routes.matched import SCOPE_KEY, STARLETTE_KEY, MatchedRoute
from fxtrio.tracebacks import frame_in_application


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


def report_of(record: logging.LogRecord, release: str, root: Path) -> ErrorReport | None:
    """Return the report of a record that was logged just now; None if it is about no exception.

    ``root`` is the project folder, from which files are named.
    """
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return None
    context = current.get()
    scope: Mapping[str, Any] = {} if context is None or context.scope is None else context.scope
    return ErrorReport(
        error=error,
        message=record.getMessage(),
        logger=record.name,
        place=_place(error, root),
        request_id=None if context is None else context.request_id,
        method=scope.get("method", ""),
        route=_route(scope),
        user_id=_user_id(scope),
        release=release,
    )


def _place(error: BaseException, root: Path) -> str:
    found = frame_in_application(error)
    if found is None:
        return ""
    code, line = found
    file = Path(code.co_filename)
    shown = file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)
    return f"{shown}:{line} {code.co_name}"


def _route(scope: Mapping[str, Any]) -> str:
    matched = scope.get(SCOPE_KEY)
    if isinstance(matched, MatchedRoute):
        return matched.pattern or ""
    return str(scope.get(STARLETTE_KEY, ""))


def _user_id(scope: Mapping[str, Any]) -> str | None:
    user = scope.get("state", {}).get("user")
    found = getattr(user, "id", None)
    return None if found is None else str(found)
