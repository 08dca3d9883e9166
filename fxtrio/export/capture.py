"""Asks the app for one file, in process, and says why the answer can be none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal
from urllib.parse import quote

import attrs
import trio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Scope

from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.export.audience import ExportAudience
from fxtrio.export.errors import Finding
from fxtrio.export.place import Place
from fxtrio.export.plan import SERVER
from fxtrio.serve.request.audience import AUDIENCE
from fxtrio.serve.request.client_protocol import NAVIGATION

REDIRECTS = frozenset({301, 302, 303, 307, 308})

Representation = Literal["html", "payload", "text"]
_ASKING: dict[Representation, tuple[bytes, bytes]] = {
    "html": (b"accept", b"text/html"),
    "payload": (NAVIGATION, b"1"),
    "text": (b"accept", b"*/*"),
}

UNANSWERED = "has no response, since a middleware calls neither the app nor 'send'"

_OWN_VARY = frozenset({NAVIGATION.decode(), "accept", "accept-encoding"})


@attrs.frozen
class Captured:
    """The app's answer to one request."""

    status: int
    """0 where there was no response."""

    headers: Headers
    body: bytes
    findings: tuple[Finding, ...]
    """Why it can be no file, but for its status."""

    @property
    def media(self) -> str:
        """The media type, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def location(self) -> str:
        """Where a redirect leads to; "" for other answers."""
        return self.headers.get("location", "") if self.status in REDIRECTS else ""


async def capture(
    app: ASGIApp, place: Place, path: str, representation: Representation, *, source: str
) -> Captured:
    """Return the answer of ``app`` to a request of nobody for a decoded path.

    ``source`` is the page file, for the places of findings. Raises what middleware raises.
    """
    audience = ExportAudience()
    parts: list[bytes] = []
    started: list[Message] = []

    unread = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Message:
        if not unread:
            await trio.sleep_forever()  # nobody disconnects
        return unread.pop()

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            started.append(message)
        elif message["type"] == "http.response.body":
            parts.append(bytes(message.get("body", b"")))

    await app(_scope(place, path, representation, audience), receive, send)
    if not started:
        remedy = "Call the app, or send a response"
        return Captured(0, Headers(), b"", (Finding(source, f"{path} {UNANSWERED}", remedy),))
    headers = Headers(raw=list(started[0].get("headers", ())))
    body = b"".join(parts)
    status = started[0]["status"]
    found = _findings(audience, status, headers, body, source)
    return Captured(status, headers, body, tuple(found))


def _scope(
    place: Place, path: str, representation: Representation, audience: ExportAudience
) -> Scope:
    whole = place.base_url + path if path != "/" or not place.base_url else place.base_url
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": place.scheme,
        "server": place.server,
        "client": None,
        "root_path": place.root,
        "path": whole,
        "raw_path": quote(whole, safe=SAFE_IN_PATHS).encode(),
        "query_string": b"",
        "headers": [_ASKING[representation], (b"host", place.host.encode())],
        "state": {},
        AUDIENCE: audience,
    }


def _findings(
    audience: ExportAudience, status: int, headers: Headers, body: bytes, source: str
) -> Iterator[Finding]:
    """Yield each reason why an answer can be no file."""
    if not audience.admitted and audience.hook:
        to = f" and {headers['location']!r}" if "location" in headers else ""
        cause = f"the route hook {audience.hook} responds with {status}{to}"
        yield Finding(source, cause, f"Files are open to everybody. {SERVER}")
    for where, reader, remedy, names in audience.reads.by_reader(source):
        cause = f"{reader} reads {names}, which a file cannot know"
        yield Finding(where, cause, f"{remedy}, or leave the page out (--allow-missing)")
    if "set-cookie" in headers:
        name = headers["set-cookie"].partition("=")[0]
        remedy = "Set it only where it is needed, or leave the page out (--allow-missing)"
        yield Finding(source, f"its response sets the cookie {name!r}", remedy)
    varying = {name.strip().lower() for name in headers.get("vary", "").split(",")} - {""}
    for name in sorted(varying - _OWN_VARY):
        cause = f"its response differs by the header {name!r}"
        yield Finding(source, cause, "Let it be the same for everybody, or leave the page out")
    request_id = headers.get("x-request-id", "")
    if status == 200 and request_id and request_id.encode() in body:
        remedy = "Leave it out, so that each export is the same"
        yield Finding(source, "the page shows request.state.request_id", remedy)
    if audience.degraded:
        yield Finding(source, "it could not be rendered", "See the log above")
