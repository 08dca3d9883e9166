"""The CSRF check: an unsafe request must come from the app's own pages."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import msgspec
from starlette.requests import HTTPConnection, Request

from fxtrio.asgi_extensions import IN_PROCESS
from fxtrio.config import CsrfConfig
from fxtrio.serve.request import csrf
from fxtrio.serve.request.bodies.forms import MULTIPART, URLENCODED, media_type
from fxtrio.serve.request.bodies.spool import Body
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.requests import BodyRequest
from fxtrio.serve.request.response.response import Entropy, Header

TOKEN = "fx.csrf"
"""Key of the ASGI scope of a Starlette route: a function that returns the client's token."""


class Proof(msgspec.Struct, frozen=True, eq=False):
    """Judges the requests of one app, and hands out its tokens."""

    settings: CsrfConfig
    tokens: csrf.CsrfTokens
    session_of: Callable[[HTTPConnection], str | None]
    """The session a token belongs to; None or "" without one."""

    entropy: Entropy

    def rejection(
        self,
        event: RequestEvent,
        request: Request | None = None,
        form: dict[str, Any] | None = None,
    ) -> str | None:
        """Return why an unsafe request is rejected, "" if it may pass, None if its form decides.

        ``form`` holds the fields of a form that was read because the headers did
        not decide; None before that. Only a client with a valid cookie may send one.
        The session is read from ``request``, by default the event's own.
        """
        settings = self.settings
        if not settings.enabled or IN_PROCESS in event.scope:
            return ""
        if settings.exempt_paths and self._is_exempt(event):
            return ""
        scheme = event.scope["scheme"]
        trusted = settings.trusted_origins
        origin = csrf.OWN
        if not event.welcome:
            origin = csrf.judge_origin(event.headers, scheme=scheme, trusted_origins=trusted)
        if origin.trusted is False or (origin.trusted is None and settings.mode == "strict"):
            return origin.reason
        if origin.trusted and settings.mode == "standard":
            return ""
        sent = event.headers.get(csrf.HEADER)
        cookie = csrf.read_cookie(event.headers.get(b"cookie"), csrf.cookie_name(scheme))
        session = self.session_of(request or event.request) or ""
        may_follow = sent is None and form is None and _sends_form(event)
        if may_follow and cookie and self.tokens.holds(cookie, session):
            return None
        token = sent.decode("latin-1") if sent is not None else (form or {}).get(csrf.FIELD)
        wrong = self.tokens.matches(cookie, token if isinstance(token, str) else None, session)
        if wrong and origin.trusted is None:
            return f"{origin.reason}, and {wrong}"
        return wrong

    def foreign(self, event: RequestEvent) -> str:
        """Return why a request that only reads is rejected: another origin sends it; else "".

        A browser sends cookies with it. A client that names no origin is no browser.
        """
        settings = self.settings
        if not settings.enabled or event.welcome:
            return ""
        if settings.exempt_paths and self._is_exempt(event):
            return ""
        scheme, trusted = event.scope["scheme"], settings.trusted_origins
        origin = csrf.judge_origin(event.headers, scheme=scheme, trusted_origins=trusted)
        return origin.reason if origin.trusted is False else ""

    def _is_exempt(self, event: RequestEvent) -> bool:
        """Whether a path is one of the exempt ones, or below one.

        Not with a segment that leads up, by an encoded slash, too: a route of Starlette that
        takes any path may follow it.
        """
        if not {".", ".."}.isdisjoint(event.path.split("/")):
            return False
        return csrf.exempt(event.whole_path, self.settings.exempt_paths)

    async def form_rejection(self, event: RequestEvent, body: Body) -> str:
        """Return why a request is rejected whose form may hold the token; "" when it may pass.

        Reads the body. Raises what `BodyRequest.form` does.
        """
        fields = await BodyRequest(event.scope, body).sent_token()
        return self.rejection(event, form=fields) or ""

    def cookie(self, event: RequestEvent, request: Request) -> list[Header]:
        """Return the `Set-Cookie` of the token, unless the client has one that holds."""
        value = self.token(event, request)[1]
        return [(b"set-cookie", value)] if value else []

    def token(self, event: RequestEvent, request: Request) -> tuple[str, bytes]:
        """Return the client's token, and the `Set-Cookie` of a new one.

        Both are empty if none is required.
        """
        if not self.settings.enabled:
            return "", b""
        scheme = event.scope["scheme"]
        session = self.session_of(request) or ""
        cookies = event.headers.get(b"cookie")
        if cookies is not None:
            known = csrf.read_cookie(cookies, csrf.cookie_name(scheme))
            if known is not None and self.tokens.holds(known, session):
                return known, b""
        token = self.tokens.make(self.entropy.hex(), session)
        return token, csrf.set_cookie_header(token, scheme)

    def hand_out(self, event: RequestEvent) -> str:
        """Return the client's token; a new one is set as a cookie of the response."""
        token, cookie = self.token(event, event.request)
        if cookie:
            event.draft.raw_headers.append((b"set-cookie", cookie))
        return token


def token_field(request: Request) -> str:
    """Return a hidden field for the forms of a page of a Starlette route, as HTML.

    The page is then personal and must not be cached by shared caches. Returns "" where no
    token is required, and in another application.
    """
    hand_out: Callable[[], str] | None = request.scope.get(TOKEN)
    token = hand_out() if hand_out is not None else ""
    return f'<input type="hidden" name="{csrf.FIELD}" value="{escape(token)}">' if token else ""


def _sends_form(event: RequestEvent) -> bool:
    content_type = event.headers.get(b"content-type", b"").decode("latin-1")
    return media_type(content_type) in (URLENCODED, MULTIPART)
