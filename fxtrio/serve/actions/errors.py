"""Who refuses a form or call of an action, and where that leads: to the page to sign in."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace
from starlette.responses import Response
from starlette.types import Scope

from fxtrio.app_handle import App
from fxtrio.serve.request.response.error_response import ErrorResponse
from fxtrio.serve.request.response.response import ResponseDraft
from fxtrio.status import phrase_of

_OWN = frozenset({b"content-length", b"content-type", b"cache-control"})


def with_login(rejection: ErrorResponse, app: App, scope: Scope, url: str) -> ErrorResponse:
    """Return a rejection with 401 together with where its visitor can sign in.

    That is what the auth plugin names for the page at ``url``: nothing for somebody who is
    signed in, or where one signs in anyway.
    """
    if rejection.redirect is not None or app.authenticator is None:
        return rejection
    login_url = getattr(app.authenticator, "login_url", None)
    login = login_url(scope, url) if login_url is not None else None
    return rejection if login is None else replace(rejection, redirect=login)


def json_rejection(
    response: Response, draft: ResponseDraft, *, whole: bool
) -> ErrorResponse | None:
    """Return what a hook's response says, such as ``{"ok": false, "error": …}``.

    Its headers go into ``draft``. None for a response that is not a JSON object, and for one
    that says more than that when the ``whole`` of it must be sent.
    """
    said = _object_in(response)
    if said is None or (whole and set(said) - {"ok", "error", "redirect"}):
        return None
    for name, value in response.raw_headers:
        if name not in _OWN:
            draft.raw_headers.append((name, value))
    redirect = said.get("redirect")
    phrase = phrase_of(response.status_code)
    return ErrorResponse(
        str(said.get("error") or said.get("detail") or phrase),
        response.status_code,
        redirect=redirect if isinstance(redirect, str) else None,
    )


def _object_in(response: Response) -> dict[str, Any] | None:
    """Return the object that a response has as its JSON; None when it has none."""
    if not response.headers.get("content-type", "").startswith("application/json"):
        return None
    try:
        said = json.loads(bytes(getattr(response, "body", b"")))
    except ValueError:
        return None
    return said if isinstance(said, dict) else None
