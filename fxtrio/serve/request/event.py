"""One HTTP request as the runtime sees it, before application code runs."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from urllib.parse import quote, unquote, unquote_to_bytes

import msgspec
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from fxtrio.asgi_extensions import SAFE_IN_PATHS, WHOLE_RESPONSE, WholeResponse
from fxtrio.clients import client_network
from fxtrio.compression.middleware import EncodingSend
from fxtrio.errors import LoaderError
from fxtrio.serve.request.audience import AUDIENCE, Audience
from fxtrio.serve.request.bodies.spool import Bodies, Body
from fxtrio.serve.request.client_protocol import NAVIGATION
from fxtrio.serve.request.response.response import (
    Answer,
    Entropy,
    ResponseDraft,
    StandardHeaders,
)
from fxtrio.server.header_fields import repeated

_PLAIN_PATH = re.compile(r"[A-Za-z0-9_.~/!$&'()*+,;=:@-]*")
"""A path that is its own encoding."""

PLAIN_URL = re.compile(rb"[A-Za-z0-9_.~/!$'()*+,;=:@%-]*")
"""A URL without characters that JSON or HTML acts on."""

_INCOMING_ID = re.compile(rb"[A-Za-z0-9._-]{1,128}")


class PagePath(msgspec.Struct, frozen=True):
    """The path of a page, the same for all its representations. Without the base URL."""

    path: str
    """Decoded."""

    sent: bytes | None = None
    """As it was sent, where a slash is part of a segment; None where ``path`` says all."""

    @property
    def raw(self) -> bytes:
        """Percent-encoded: a slash that is part of a segment is ``%2F`` here alone."""
        if self.sent is not None:
            return self.sent
        plain = _PLAIN_PATH.fullmatch(self.path) is not None
        return (self.path if plain else quote(self.path, safe=SAFE_IN_PATHS)).encode()

    def url(self, base_url: str) -> str:
        """Return the page's URL, for a `Location`."""
        base = quote(base_url, safe=SAFE_IN_PATHS)
        return base + self.raw.decode("latin-1") if self.path != "/" else base or "/"


class RequestTerms(msgspec.Struct, frozen=True, eq=False):
    """The part of a request's state that all requests of an app share."""

    base_url: str
    entropy: Entropy
    standard: StandardHeaders
    audience: Audience
    """That of a request without one of its own."""

    with_ids: bool
    """Whether requests have an id."""

    trust_incoming_ids: bool
    timeout: float
    """`RequestEvent.timeout`, unless the settings of the route say otherwise (seconds)."""


class RequestEvent(msgspec.Struct, eq=False):
    """A request, with the state that the steps of its response share."""

    terms: RequestTerms
    scope: Scope
    receive: Receive
    send: Send
    headers: dict[bytes, bytes]
    """By lower-case name; of repeated ones the last."""

    path: str
    """Decoded, without the base URL; starts with a slash. "" for a path outside of it."""

    request_id: bytes | None
    draft: ResponseDraft
    audience: Audience
    navigation: bool
    """Whether the client router requests the payload instead of the page."""

    timeout: float
    """How long hooks and the work for the response may take, for each part of the runtime alike
    (seconds). What has a setting of its own, such as a loader, is limited by that as well."""

    background_tasks: list[BackgroundTask] = msgspec.field(default_factory=list)
    """Tasks that start after the response is sent."""

    negotiated: bool = False
    """Whether a header, not the URL, requests the page as Markdown."""

    settled: bool = False
    """Whether the page must have all of its values in place, since its browser runs no scripts."""

    page_url: str | None = None
    """The URL of the page, where it is not the requested one (a form's action)."""

    rejection: LoaderError | None = None
    """Why the settings of its route reject it; None if they do not."""

    welcome: bool = False
    """Whether the settings of its route let its origin act for its visitor, or without one."""

    begun: bool = False
    """Whether a response of the application's is on its way."""

    status: int = 0
    """The status of the response that is on its way; 0 before."""

    reserved: int = 0
    """Bytes of the response budget that its page uses while it is rendered."""

    body: Body | None = None
    """The request's body as far as it was read, until the request ends."""

    server: WholeResponse | None = None
    """The server of fxtrio, where no middleware is before it."""

    direct: Send | None = None
    """The ``send`` of ``server``, where nothing that encodes is before it either."""

    otherwise: Callable[[], Awaitable[Answer]] | None = None
    """Produces the response in place of work that the server has interrupted."""

    def open_body(self, bodies: Bodies, *, limit: int) -> Body:
        """Return the request's body, of which nothing has been read."""
        client = self.scope.get("client") or ("",)
        self.body = Body(
            self.receive, self.headers, limit=limit, bodies=bodies, address=client[0] or ""
        )
        return self.body

    def take_background_tasks(self) -> list[BackgroundTask]:
        """Return the work that follows a response, which may read the body and ends it."""
        if self.background_tasks and self.body is not None:
            self.background_tasks.append(BackgroundTask(self.body.aclose))
            self.body = None
        return self.background_tasks

    @property
    def address(self) -> str:
        """The network of its client's public address; "" for an address that clients may share."""
        return client_network(self.scope)

    @property
    def request(self) -> Request:
        """The request that loaders, hooks and Markdown functions get."""
        return self.audience.connect(self.scope)

    def connect(self, scope: Scope) -> Request:
        """Return a request of a scope that was derived from this one's."""
        return self.audience.connect(scope)

    @property
    def repeated(self) -> bytes | None:
        """A header by which requests are trusted, and that is there twice; None when none is."""
        fields = self.scope["headers"]
        return None if len(fields) == len(self.headers) else repeated(fields)

    @property
    def raw_path(self) -> bytes | None:
        """The path as it was sent, without the base URL; None when decoding lost nothing."""
        raw: bytes | None = self.scope.get("raw_path")
        if raw is None or (b"%2F" not in raw and b"%2f" not in raw):
            return None
        raw = raw.partition(b"?")[0]
        surplus = len(self.scope["path"]) - len(self.path)
        if not surplus:
            return raw
        # Characters of the base URL may be encoded, so it ends where its segments do.
        base = self.scope["path"][:surplus]
        parts = raw.split(b"/")
        depth = base.count("/") + 1
        inside = unquote_to_bytes(b"/".join(parts[:depth])) == base.encode()
        return b"/" + b"/".join(parts[depth:]) if inside else raw

    @property
    def whole_path(self) -> str:
        """The path decoded, but for slashes that divide nothing: they stay ``%2F``."""
        raw = self.raw_path
        if raw is None:
            return self.path
        segments = raw.decode("latin-1").split("/")
        return "/".join(unquote(segment).replace("/", "%2F") for segment in segments)

    @property
    def requested_json(self) -> bytes | None:
        """`requested` as JSON, where it has no character that JSON or HTML acts on."""
        scope = self.scope
        raw: bytes | None = scope.get("raw_path")
        if raw is None or self.page_url is not None or scope["query_string"]:
            return None
        return b'"%b"' % raw if PLAIN_URL.fullmatch(raw) else None

    @property
    def requested(self) -> str:
        """Path and query of the page as the client sent them, base URL included."""
        if self.page_url is not None:
            return self.page_url
        scope = self.scope
        raw = scope.get("raw_path") or scope["path"].encode()
        text: bytes = raw.partition(b"?")[0]
        if scope["query_string"]:
            text += b"?" + scope["query_string"]
        return text.decode("latin-1")


def open_event(terms: RequestTerms, scope: Scope, receive: Receive, send: Send) -> RequestEvent:
    """Read a request's scope. Puts ``request_id`` and ``response`` on the request's state."""
    base_url = terms.base_url
    headers: dict[bytes, bytes] = dict(scope["headers"])
    path: str = scope["path"]
    if base_url:
        inside = path == base_url or path.startswith(base_url + "/")
        path = (path[len(base_url) :] or "/") if inside else ""
    draft = ResponseDraft()
    state = scope.get("state")
    if state is None:
        state = scope["state"] = {}
    state["response"] = draft
    request_id, generated = None, ""
    if terms.with_ids:
        incoming = headers.get(b"x-request-id") if terms.trust_incoming_ids else None
        if incoming is not None and _INCOMING_ID.fullmatch(incoming):
            request_id = incoming
        else:
            generated = terms.entropy.hex()
            request_id = generated.encode()
        state["request_id"] = generated or request_id.decode()
    extensions = scope.get("extensions")
    server: WholeResponse | None = extensions.get(WHOLE_RESPONSE) if extensions else None
    direct: Send | None = None
    if server is not None:
        unencoded = send.inner if isinstance(send, EncodingSend) else send
        if not server.interrupts or unencoded != server.send:
            server = None
        elif unencoded is send:
            direct = send
    return RequestEvent(
        terms,
        scope,
        receive,
        send,
        headers,
        path,
        request_id,
        draft,
        scope.get(AUDIENCE, terms.audience),
        headers.get(NAVIGATION) == b"1",
        terms.timeout,
        server=server,
        direct=direct,
    )
