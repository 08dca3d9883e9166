"""What application code raised, as the runtime knows it: one error, and one kind of each."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException

from fxtrio.errors import REDIRECT_STATUS, ActionError, Busy, LoaderError, Redirect
from fxtrio.serve.request.reply import ResponseDraft

_OF_THE_ANSWER = frozenset({"content-length", "content-type", "transfer-encoding"})
"""Headers that say how the body is sent, which is ours to make."""


def unwrap(error: Any, draft: ResponseDraft) -> Any:
    """Return the one expected error inside a nursery's group, or ``error`` itself.

    A loader that opens a nursery and raises LoaderError in it means LoaderError. Starlette's
    HTTPException becomes one with its status and detail; its headers go into ``draft``.
    """
    inner = error
    while isinstance(inner, BaseExceptionGroup) and len(inner.exceptions) == 1:
        inner = inner.exceptions[0]
    if isinstance(inner, HTTPException):
        return _of_starlette(inner, draft)
    return inner if isinstance(inner, (LoaderError, ActionError, Redirect, Busy)) else error


def _of_starlette(error: HTTPException, draft: ResponseDraft) -> LoaderError | Redirect:
    """Return the error of ours that means the same; a ``Location`` makes it a redirect."""
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    location = headers.pop("location", None)
    for name, value in headers.items():
        if name == "set-cookie":
            draft.headers.append(name, value)
        elif name not in _OF_THE_ANSWER:
            draft.headers[name] = value
    if location is not None and error.status_code in REDIRECT_STATUS:
        try:
            return Redirect(location, error.status_code)
        except ValueError as refused:
            error.add_note(str(refused))
    detail: object = error.detail  # FastAPI's takes anything
    if isinstance(detail, str):
        found = LoaderError(detail, error.status_code)
    else:
        phrase = HTTPStatus(error.status_code).phrase
        found = LoaderError(phrase, error.status_code, {"detail": detail})
    found.__cause__ = error
    return found
