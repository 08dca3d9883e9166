"""The URL that agents connect to: who may, and what of the protocol needs no tool.

There is nothing that only this process knows of a client: it gets a random name, by which it can
cancel a call of its own.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from typing import Any

import attrs
import trio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fxtrio.errors import Redirect
from fxtrio.origin import read_origin
from fxtrio.plugins.guard import Guard
from fxtrio.plugins.mcp.calls import Calls, client_of

SESSION = b"mcp-session-id"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


@attrs.frozen(kw_only=True)
class Access:
    """Who may connect."""

    site: str
    """The origin that the app has for agents, ``https://shop.example``; "" on this machine."""

    resource: str
    """The URL of the endpoint; "" without a site."""

    metadata: str
    """The URL that says where tokens come from; "" where agents need none."""

    origins: frozenset[str]
    """Other origins whose pages may connect."""

    guard: Guard | None

    def foreign(self, scope: Scope) -> Response | None:
        """Return the response to a request that is for another site, or from one.

        A site that leads its own name to this server, or any page in a browser, cannot reach it.
        """
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        own = read_origin(f"{scope['scheme']}://{host}")
        site = read_origin(self.site) if self.site else None
        known = name in _LOOPBACK or (site is not None and name == site.host)
        if own is None or not known:
            text = f"mcp: {host!r:.80} is not this site. Set 'site' of the plugin 'mcp'.\n"
            return PlainTextResponse(text, 421)
        sent = headers.get(b"origin")
        if sent is None:
            return None
        origin = read_origin(sent.decode("latin-1"))
        allowed = {own, site, *map(read_origin, self.origins)}
        if origin is None or origin not in allowed:
            return PlainTextResponse("mcp: pages of another origin may not connect.\n", 403)
        return None

    async def refusal(self, request: Request) -> Response | None:
        """Return the response for those who may not connect. Raises the Redirect of the guard."""
        if self.metadata and "authorization" not in request.headers:
            return self._asking_for_token(PlainTextResponse("A token is needed.\n", 401))
        refusal = None if self.guard is None else await self.guard(request)
        if isinstance(refusal, Redirect):
            raise refusal
        return None if refusal is None else self._asking_for_token(refusal)

    def _asking_for_token(self, refusal: Response) -> Response:
        if refusal.status_code == 401 and self.metadata:
            refusal.headers["www-authenticate"] = f'Bearer resource_metadata="{self.metadata}"'
        return refusal


@attrs.frozen(kw_only=True)
class Metadata:
    """What RFC 9728 says of the endpoint: where agents get tokens for it."""

    resource: str
    servers: tuple[str, ...]
    scopes: tuple[str, ...]

    async def answer(self, request: Request) -> Response:
        """Return it. It is the same for everybody, and says nothing of the request."""
        found: dict[str, Any] = {
            "resource": self.resource,
            "authorization_servers": list(self.servers),
            "bearer_methods_supported": ["header"],
        }
        if self.scopes:
            found["scopes_supported"] = list(self.scopes)
        headers = {"access-control-allow-origin": "*", "cache-control": "max-age=300"}
        return JSONResponse(found, headers=headers)


@attrs.define(eq=False)
class Served:
    """What the endpoint of a running app has."""

    access: Access
    calls: Calls
    app: ASGIApp | None = None
    """That of the SDK, whose import takes seconds; it is there once ``imported`` is set."""

    imported: trio.Event = attrs.field(factory=trio.Event)


@attrs.frozen(eq=False)
class Endpoint:
    """The ASGI app of the endpoint."""

    served: Callable[[], Served]
    """Raises AppNotRunning."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        served = self.served()
        refusal = served.access.foreign(scope)
        if refusal is None and scope["method"] != "POST":
            # There is no stream of the server's own, and nothing to end.
            refusal = PlainTextResponse("mcp: connect with POST.\n", 405, {"allow": "POST"})
        refusal = refusal or await served.access.refusal(Request(scope))
        if refusal is not None:
            return await refusal(scope, receive, send)
        body = await _whole(receive)
        said = _said(body)
        if said.get("method") == "notifications/cancelled":
            params = said.get("params")
            number = params.get("requestId") if isinstance(params, dict) else None
            if isinstance(number, str | int):
                served.calls.cancel(client_of(scope), number)
        elif said.get("method") == "initialize":
            send = _naming(send)
        await served.imported.wait()
        assert served.app is not None
        return await served.app(scope, _again(body, receive), send)


async def _whole(receive: Receive) -> bytes:
    """Return the body, whose size the route has bounded. Raises ClientDisconnect."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _said(body: bytes) -> dict[str, Any]:
    """Return the message of a body; an empty one where the SDK will report the error."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a ``receive`` that begins with a body that has been read."""
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receiving() -> Message:
        for message in messages:
            return message
        return await receive()

    return receiving


def _naming(send: Send) -> Send:
    """Return a ``send`` that gives the client a name of its own."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            name = (SESSION, secrets.token_urlsafe(24).encode())
            message = {**message, "headers": [*message.get("headers", ()), name]}
        await send(message)

    return sending
