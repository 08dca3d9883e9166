"""Normalizes errors and statuses of application code: one known error, a valid status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException

from fxtrio.context import current_app
from fxtrio.db.errors import DatabaseUnavailable, TransactionConflict
from fxtrio.errors import (
    REDIRECT_STATUS,
    ActionError,
    Busy,
    LoaderError,
    Redirect,
    ValueInvalid,
    described,
)
from fxtrio.serve.request.response.response import ResponseDraft
from fxtrio.status import as_status, phrase_of

if TYPE_CHECKING:
    from fxtrio.db import Database

_BODY_HEADERS = frozenset({"content-length", "content-type", "transfer-encoding"})
"""Headers that describe the body, which the runtime creates."""


class StatusInvalid(ValueInvalid):
    """Application code set a status that no response can have."""

    remedy = "Give an int from 200 to 599, such as 404 or HTTPStatus.NOT_FOUND"

    def __init__(self, place: str, value: object) -> None:
        super().__init__(place, f"the status is {described(value)}")


class RaisedErrorInvalid(ValueInvalid):
    """Application code raised a LoaderError or ActionError that cannot be sent."""

    def __init__(self, place: str, error: BaseException, cause: str) -> None:
        super().__init__(place, f"raised {type(error).__name__}: {cause}")


def require_status(value: object, place: str) -> int:
    """Return a status set by application code. Raises StatusInvalid."""
    status = as_status(value)
    if status is None:
        raise StatusInvalid(place, value)
    return status


def unwrap(error: Any, draft: ResponseDraft, place: str) -> Any:
    """Return the one expected error inside a nursery's group, or ``error`` itself.

    A loader that opens a nursery and raises LoaderError in it means LoaderError. Starlette's
    HTTPException becomes one with its status and detail; its headers go into ``draft``. A
    database outage becomes a `Busy`. An error for the client that cannot be sent becomes an
    error that names ``place``.
    """
    inner = error
    while isinstance(inner, BaseExceptionGroup) and len(inner.exceptions) == 1:
        inner = inner.exceptions[0]
    if not isinstance(inner, (LoaderError, ActionError, HTTPException)):
        known = isinstance(inner, (Redirect, Busy, ValueInvalid))
        return inner if known else _of_database(inner) or error
    invalid = find_invalid_error(inner, place)
    if invalid is not None:
        return invalid
    return _of_starlette(inner, draft) if isinstance(inner, HTTPException) else inner


def find_invalid_error(
    error: LoaderError | ActionError | HTTPException, place: str
) -> ValueInvalid | None:
    """Return why an error cannot be sent to a client; None when it can."""
    invalid: ValueInvalid | None = None
    if as_status(error.status_code) is None:
        invalid = StatusInvalid(f"{place}: raised {type(error).__name__}", error.status_code)
    elif not isinstance(error, HTTPException) and (cause := _unfit(error)):
        invalid = RaisedErrorInvalid(place, error, cause)
    if invalid is not None:
        invalid.__cause__ = error
    return invalid


def _unfit(error: LoaderError | ActionError) -> str:
    """Return why a LoaderError or ActionError is invalid, and the remedy; "" if it is valid."""
    if not isinstance(error.message, str):
        return f"the message is {described(error.message)}. Give a str, and other values as 'data'."
    if not isinstance(error.data, Mapping):
        return f"'data' is {described(error.data)}. Give a dict, or leave it out."
    if isinstance(error, ActionError) and not _is_fields(error.fields):
        return f"'fields' is {described(error.fields)}. Give a dict of field paths to lists of str."
    return ""


def _is_fields(fields: object) -> bool:
    return isinstance(fields, Mapping) and all(
        isinstance(path, str)
        and isinstance(messages, (list, tuple))
        and all(isinstance(message, str) for message in messages)
        for path, messages in fields.items()
    )


def _of_database(error: BaseException) -> Busy | None:
    """Return a 503 for a failure that no statement caused: a full disk, a server that stops.

    The database must have reported it: after a lost connection the outcome is unknown, and a
    client should not be invited to retry.
    """
    said = getattr(error, "sqlstate", None) or getattr(error, "sqlite_errorcode", None)
    app = current_app() if said else None
    database: Database | None = None if app is None else app.database
    if database is None:
        return None
    found: Busy | None = None
    if database.is_conflict(error):
        found = TransactionConflict(1)
    elif database.is_unavailable(error):
        found = DatabaseUnavailable(" ".join(str(error).split()))
    if found is not None:
        found.__cause__ = error
    return found


def _of_starlette(error: HTTPException, draft: ResponseDraft) -> LoaderError | Redirect:
    """Return the equivalent LoaderError; with a ``Location`` it is a redirect."""
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    location = headers.pop("location", None)
    for name, value in headers.items():
        if name == "set-cookie":
            draft.headers.append(name, value)
        elif name not in _BODY_HEADERS:
            draft.headers[name] = value
    if location is not None and error.status_code in REDIRECT_STATUS:
        try:
            return Redirect(location, error.status_code)
        except ValueError as invalid_header:
            error.add_note(str(invalid_header))
    detail: object = error.detail  # FastAPI's takes anything
    if isinstance(detail, str):
        found = LoaderError(detail, error.status_code)
    else:
        found = LoaderError(phrase_of(error.status_code), error.status_code, {"detail": detail})
    found.__cause__ = error
    return found
