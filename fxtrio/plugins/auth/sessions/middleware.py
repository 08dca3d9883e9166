"""ASGI middleware around the app that identifies the user of a request.

Sets ``request.state.user``. Without a cookie that the app has signed it does nothing
else, and never queries the storage. WebSockets are passed on: their handlers call
`authenticate_websocket`.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fxtrio.asgi_extensions import SAME_FOR_ALL, root_of
from fxtrio.plugins.auth.errors import AuthStorageUnavailable
from fxtrio.plugins.auth.models import Rejection, SignedIn, rejection_of
from fxtrio.plugins.auth.service import AuthService
from fxtrio.serve.request.response.error_response import whole_seconds
from fxtrio.serve.request.response.translated import failure_response, translated

SIGNED_IN = "fx.auth"
"""Key of the ASGI scope that holds the `SignedIn` of a request, for the plugin itself."""

Headers = list[tuple[bytes, bytes]]

_MEDIA = (b"image/", b"audio/", b"video/", b"font/")


class SessionMiddleware:
    """Looks up the session of each HTTP request."""

    def __init__(self, app: ASGIApp, *, service: Callable[[], AuthService], assets: str) -> None:
        """``assets`` is the path of hashed files: they are the same for all, signed in or not."""
        self._app = app
        self._service = service
        self._assets = assets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["user"] = None
        if scope["path"].startswith(root_of(scope) + self._assets):
            await self._app(scope, receive, send)
            return
        service = self._service()
        try:
            signed_in = await service.find(scope)
        except AuthStorageUnavailable as error:
            await _unavailable(scope, rejection_of(error))(scope, receive, send)
            return
        if signed_in is None:
            await self._app(scope, receive, send)
            return
        state["user"] = signed_in.user
        scope[SIGNED_IN] = signed_in
        extended = await service.extend(signed_in.session)
        renew = signed_in.renew
        if extended is not None:
            signed_in = attrs.evolve(signed_in, session=extended)
            renew = renew or extended.persistent
        cookie = service.cookie_header(signed_in, scope["scheme"]) if renew else None
        await self._app(scope, receive, _personal(send, scope, cookie))


def _unavailable(scope: Scope, rejection: Rejection) -> Response:
    """Respond to a visitor whose session cannot be checked now, instead of as signed out."""
    wait = whole_seconds(rejection.retry_after or 1)
    headers = {"cache-control": "no-store", "retry-after": str(wait)}
    if "/api/" in scope["path"]:
        return failure_response(rejection.message, rejection.status, headers, code=rejection.code)
    return PlainTextResponse(translated(rejection.message) + "\n", rejection.status, headers)


def _personal(send: Send, scope: Scope, cookie: bytes | None) -> Send:
    """Return a ``send`` that keeps responses out of caches, and adds a `Set-Cookie`.

    This overrides the response's own headers: the framework, a page and an endpoint can be
    wrong about whom it depends on. A response that sets the cookie itself, as after signing
    out, keeps its own.
    """

    async def personal(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            adds = cookie is not None and not _sets(headers, cookie.partition(b"=")[0] + b"=")
            if adds or not _may_keep_policy(scope, headers):
                headers = [each for each in headers if not _is_policy(each[0].lower())]
                headers.append((b"cache-control", b"no-store"))
            if adds:
                headers.append((b"set-cookie", cookie or b""))
            message = {**message, "headers": headers}
        await send(message)

    return personal


def _sets(headers: Headers, name: bytes) -> bool:
    """Whether a response sets the cookie whose header starts with ``name``."""
    return any(key.lower() == b"set-cookie" and value.startswith(name) for key, value in headers)


def _may_keep_policy(scope: Scope, headers: Headers) -> bool:
    """Whether a response may set its own cache policy: a static file, or private media.

    Media count if they are cacheable by the browser only, such as a picture of an endpoint.
    """
    if scope.get(SAME_FOR_ALL):
        return True
    said = {key.lower(): value.lower() for key, value in headers}
    is_private = b"private" in said.get(b"cache-control", b"")
    return is_private and said.get(b"content-type", b"").startswith(_MEDIA)


def _is_policy(name: bytes) -> bool:
    """Whether a header controls caches, including those of one network (RFC 9213)."""
    return name.endswith(b"cache-control") or name in (b"surrogate-control", b"expires")


def signed_in_of(scope: Scope) -> SignedIn | None:
    """Return the user and session of a request, as the middleware found them."""
    found = scope.get(SIGNED_IN)
    return found if isinstance(found, SignedIn) else None
