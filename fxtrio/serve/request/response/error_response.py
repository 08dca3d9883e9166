"""The JSON response to a rejected request."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from math import ceil
from typing import Any, Final

import msgspec

from fxtrio.encode import NotSerializable, encode
from fxtrio.errors import ActionError, BodiesFull, Busy, LoaderError, ValidationActionError
from fxtrio.serve.request.response.response import JSON, NO_STORE, Header, Reply
from fxtrio.serve.request.response.translated import translated, translated_fields

log = logging.getLogger("fx.serve")

UNEXPECTED: Final = "An unexpected error occurred."
"""All that clients of an app in production learn of a defect."""

CSRF_TOKEN: Final = "csrf_token"
"""The code of a request whose CSRF token is not, or no longer, that of its session."""


class ErrorResponse(msgspec.Struct, frozen=True):
    """A request that was not carried out, or whose code raised something meant for the client."""

    message: str
    status: int
    data: Mapping[str, Any] = msgspec.field(default_factory=dict)
    fields: Mapping[str, list[str]] | None = None
    """Messages by field; None for an error that is not about fields."""

    retry_after: int | None = None
    """When the client may try again (seconds)."""

    redirect: str | None = None
    """URL to which the visitor is redirected, such as the sign-in page."""

    code: str = ""
    """What programs recognize the error by, whose message may be translated; "" for most."""


def to_error_response(error: ActionError | LoaderError) -> ErrorResponse:
    """Return the client's view of an error that application code raised for it."""
    fields = None
    if isinstance(error, ValidationActionError):
        fields = error.fields
    elif isinstance(error, ActionError):
        fields = error.fields or None
    retry_after = error.retry_after if isinstance(error, BodiesFull) else None
    return ErrorResponse(error.message, error.status_code, error.data, fields, retry_after)


def busy(error: Busy) -> ErrorResponse:
    """Return the client's view of a capacity that is exhausted."""
    return ErrorResponse(error.message, 503, retry_after=whole_seconds(error.retry_after))


def whole_seconds(wait: float) -> int:
    """Return the value of `Retry-After` for a wait: never less than it, and never 0.

    The header holds whole seconds. A client that comes back before its time is rejected again.
    """
    return max(1, ceil(wait))


def retry_after_header(seconds: int) -> Header:
    """Return the header `Retry-After`."""
    return b"retry-after", b"%d" % seconds


def error_reply(rejection: ErrorResponse) -> Reply:
    """Return ``{ok: false, error}`` with ``data``, where there is any, and ``fields``."""
    headers: list[Header] = [NO_STORE]
    if rejection.retry_after is not None:
        headers.append(retry_after_header(rejection.retry_after))
    try:
        return Reply(rejection.status, _encoded(rejection), JSON, headers)
    except NotSerializable as error:
        log.error("%s", error)
        return error_reply(ErrorResponse(UNEXPECTED, 500))


def error_body(rejection: ErrorResponse) -> bytes:
    """Return the body of that reply alone, for a response whose status is sent already."""
    return error_reply(rejection).body


def _encoded(rejection: ErrorResponse) -> bytes:
    body: dict[str, Any] = {"ok": False, "error": translated(rejection.message)}
    if rejection.data:
        body["data"] = rejection.data
    if rejection.fields is not None:
        body["fields"] = translated_fields(rejection.fields)
    if rejection.redirect is not None:
        body["redirect"] = rejection.redirect
    if rejection.code:
        body["code"] = rejection.code
    return encode(body, place="the error")


def csrf_failure(verdict: str) -> ErrorResponse:
    """Return the rejection of a request that failed the CSRF check; ``verdict`` says why.

    If that is the token, the client module requests another one, and tries again.
    """
    code = CSRF_TOKEN if verdict.startswith("the token ") else ""
    return ErrorResponse(f"CSRF check failed: {verdict}.", 403, code=code)


def csrf_failure_reply(verdict: str) -> Reply:
    """Return it in JSON."""
    return error_reply(csrf_failure(verdict))
