"""A cached response: created once from a page's response, then personalized for each visitor.

The bytes are split at every nonce, so that each visitor gets a new one. Personal headers
(the token cookie, those of the hooks) are added when the response is sent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

from fxtrio.compression.eligibility import LEAST
from fxtrio.compression.gzip_splice import STORED, StoredBody, deflate_pieces
from fxtrio.compression.threads import Threads
from fxtrio.opaque import Opaque
from fxtrio.serve.request.client_protocol import PAYLOAD
from fxtrio.serve.request.response.response import HTML, Header, Reply, ResponseDraft

if TYPE_CHECKING:
    from fxtrio.serve.pages.site import Site
    from fxtrio.serve.request.event import RequestEvent

MISS = (b"x-fx-cache", b"miss")
HIT = (b"x-fx-cache", b"hit")
STALE = (b"x-fx-cache", b"stale")
PASS = (b"x-fx-cache", b"pass")

_SET_WHEN_STORED = frozenset({b"cache-control"})


class HitForPass(msgspec.Struct, frozen=True, eq=False):
    """Says that a response is not to be stored, until a moment (`trio.current_time`)."""

    page: str
    route: bytes
    until: float
    size: int = 0


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of a cached response that are fixed before it is rendered."""

    page: str
    """The path of its page, without the base URL."""

    route: bytes
    """The route pattern as JSON."""

    since: float
    """When its loaders begin (`trio.current_time`)."""

    revalidate: float
    """Seconds after which it is stale."""

    nonce: bytes
    """The placeholder for every nonce in its body and headers."""

    shareable: bool
    """Whether shared caches may keep the HTML: not when they would hand one nonce, or no
    token, to everybody."""


class CachedResponse(Opaque, msgspec.Struct, eq=False, kw_only=True):
    """A response that is the same for everybody."""

    terms: Terms
    status: int
    media: bytes
    segments: tuple[bytes, ...]
    """The body, cut at each nonce; before the time to live, if it `counts_down`."""

    counts_down: bool
    """Whether a navigation payload ends with the seconds for which it may be used again."""

    headers: tuple[Header, ...]
    policy: tuple[bytes, Sequence[bytes]] | None
    """Name and value, cut at its nonce, of the Content-Security-Policy."""

    drafted: tuple[Header, ...]
    """Headers that the application set through ``request.state.response``."""

    etag: bytes
    """Weak: the parts that differ between visitors do not count. "" if not cacheable."""

    shared: bool
    """Whether shared caches may store it; it then contains no CSRF token."""

    tags: frozenset[str] = frozenset()
    """What its loaders have named with `fx.cache.tags`."""

    retry: float = 0.0
    """The earliest time of its revalidation: later after a failure."""

    size: int = 0
    """Bytes of its body and headers."""

    deflated: tuple[bytes, ...] = ()
    """The segments, compressed once for all; empty when they are not."""

    @property
    def page(self) -> str:
        """The path of its page, without the base URL."""
        return self.terms.page

    @property
    def route(self) -> bytes:
        """The route pattern as JSON."""
        return self.terms.route

    async def compress(self, threads: Threads) -> None:
        """Compress the body, unless it is too small to gain by it."""
        if not self.etag or sum(map(len, self.segments)) < LEAST:
            return
        self.deflated = await threads.run(self.size, deflate_pieces, self.segments)
        self.size += sum(map(len, self.deflated))

    def reply(self, site: Site, event: RequestEvent, now: float, state: Header) -> Reply:
        """Return it for one visitor; 304 without a body if the visitor's copy is current."""
        headers = [*self.headers, state]
        if self.drafted:
            own = event.draft.raw_headers
            # A hook that sets a header has set it for the stored one, too.
            names = {name for name, _ in own}
            own[:0] = [header for header in self.drafted if header[0] not in names]
        personal = self.media == HTML and not self.shared and not event.draft.shared
        if personal:  # the CSRF token is the visitor's: it is never cached
            headers += site.proof.cookie(event, event.request)
        if self.etag:
            headers.append((b"etag", self.etag))
            headers.append((b"age", b"%d" % (now - self.terms.since)))
            known = event.headers.get(b"if-none-match")
            if known is not None and matches(known, self.etag):
                # Without a policy: the client's stored policy matches the nonces of its body.
                return Reply(304, b"", b"", headers)
        nonce = site.entropy.hex().encode() if self.policy or len(self.segments) > 1 else b""
        if self.policy is not None:
            name, parts = self.policy
            headers.append((name, nonce.join(parts)))
        body, tail = nonce.join(self.segments), b""
        if self.counts_down:
            tail = b"%d}" % max(0, math.ceil(self.terms.since + self.terms.revalidate - now))
            body += tail
        if self.deflated:
            event.scope[STORED] = StoredBody(body, self.deflated, nonce, tail)
        return Reply(self.status, body, self.media, headers)


def store_response(
    reply: Reply, draft: ResponseDraft, terms: Terms, *, cacheable: bool
) -> CachedResponse:
    """Return a page's response as a cached response.

    One that is not ``cacheable`` is only sent to the requests that wait for it.
    """
    headers = tuple(reply.headers)
    policy = None
    for name, value in headers:
        if name.startswith(b"content-security-policy"):
            policy = (name, _cut(value, terms.nonce))
    headers = tuple(header for header in headers if policy is None or header[0] != policy[0])
    body, counts_down = reply.body, False
    shared = terms.shareable or reply.media != HTML
    if cacheable:
        ending = b"%g}" % terms.revalidate
        counts_down = reply.media == PAYLOAD and body.endswith(ending)
        body = body[: -len(ending)] if counts_down else body
        headers = tuple(header for header in headers if header[0] not in _SET_WHEN_STORED)
        headers += (_lifetime(terms.revalidate, shared=shared),)
    segments = _cut(body, terms.nonce)
    return CachedResponse(
        terms=terms,
        status=reply.status,
        media=reply.media,
        segments=segments,
        counts_down=counts_down,
        headers=headers,
        policy=policy,
        drafted=tuple(draft.raw_headers),
        etag=_etag(segments) if cacheable else b"",
        shared=cacheable and shared,
        tags=frozenset(draft.tags),
        size=len(body) + sum(len(name) + len(value) for name, value in reply.headers),
    )


def _cut(data: bytes, nonce: bytes) -> tuple[bytes, ...]:
    return tuple(data.split(nonce)) if nonce else (data,)


def _etag(segments: Sequence[bytes]) -> bytes:
    # Without the placeholder, which every process has its own of.
    digest = blake2b(digest_size=12)
    for segment in segments:
        digest.update(segment)
    return b'W/"%b"' % digest.hexdigest().encode()


def _lifetime(revalidate: float, *, shared: bool) -> Header:
    """Return the `Cache-Control`: browsers revalidate each time, which gets a 304."""
    if not shared:
        return b"cache-control", b"private, no-cache"
    seconds = math.ceil(revalidate)
    value = b"public, max-age=0, s-maxage=%d, stale-while-revalidate=%d" % (seconds, seconds)
    return b"cache-control", value


def matches(known: bytes, etag: bytes) -> bool:
    """Whether an `If-None-Match` names the entity tag (weak comparison, RFC 9110, 8.8.3.2)."""
    if known.strip() == b"*":
        return True
    opaque = etag.removeprefix(b"W/")
    return any(tag.strip().removeprefix(b"W/") == opaque for tag in known.split(b","))
