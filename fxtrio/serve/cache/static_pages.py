"""Pages that a build has rendered: the same bytes for everybody, until the next build.

`fx build` writes those of pages with ``STATIC = True`` (`fxtrio.export.static_pages`). All
processes of an app share one file in memory. Loaders and the renderer do not run for them;
middleware, route settings and hooks do.
"""

from __future__ import annotations

import logging
import mmap
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from fxtrio.asgi_extensions import SAME_FOR_ALL
from fxtrio.compression.accept_encoding import Coding, read_accepted
from fxtrio.compression.gzip_splice import STORED, StoredBody
from fxtrio.config import Config
from fxtrio.serve.cache.cached_response import matches
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.request.client_protocol import ONLY, PAYLOAD
from fxtrio.serve.request.event import RequestEvent
from fxtrio.serve.request.response.response import (
    HTML,
    NO_STORE,
    PRIVATE,
    Header,
    Reply,
    headers_of,
)
from fxtrio.ssr.frames import Rendered

log = logging.getLogger("fx.serve")

_UNUSED = "%s: the static pages %s, so they are rendered for each request. %s"

INDEX = "static-pages.json"

_PUBLIC: Header = (b"cache-control", b"public, max-age=0, must-revalidate")
_PRIVATE_LINE = b"%b: %b\r\n" % PRIVATE
_PUBLIC_LINE = b"%b: %b\r\n" % _PUBLIC

Slice = tuple[int, int]
"""Where bytes are in the file of bodies: the first, and how many."""


class StoredRepresentation(msgspec.Struct, frozen=True):
    """One representation of a page, in the file of bodies."""

    etag: str
    segments: tuple[Slice, ...]
    """The body, cut at each nonce."""

    coded: dict[Coding, Slice] = {}
    """The whole body in each coding; of one with nonces there is none."""

    deflated: tuple[Slice, ...] = ()
    """Its segments, deflated, of a body with nonces."""


class StoredPage(msgspec.Struct, frozen=True):
    """What a build has rendered of one page."""

    html: StoredRepresentation
    payload: StoredRepresentation
    headers: tuple[tuple[str, str], ...] = ()
    """Those that its code has set (`request.state.response`)."""


StoredPages = dict[str, StoredPage]
"""By decoded path, without the base URL."""


class StoredIndex(msgspec.Struct, frozen=True):
    """The static pages of a build, and what they depend on besides the project's code."""

    build_id: str
    settings: dict[str, str]
    bodies: str
    """The name of the file of bodies, by its content: one of another build has another."""

    pages: StoredPages

    not_found: dict[int, tuple[Slice, Slice]] = {}
    """Head and HTML of not-found views, by number, for servers without Node."""


def settings_of(config: Config) -> dict[str, str]:
    """Return the settings that are in the bytes of each page, by the names in the file."""
    nonces = "no nonces" if config.csp == "off" else "nonces"
    return {"baseUrl": config.base_url, "csp": nonces, "lang": config.lang}


class StaticPages:
    """The rendered pages of a build."""

    def __init__(
        self, pages: StoredPages, bodies: Sequence[int] | mmap.mmap, *, alone: bool = False
    ) -> None:
        """``bodies`` is what the places of ``pages`` are in.

        ``alone`` is whether nothing else can render: then a query does not matter, as with files.
        """
        self._alone = alone
        self._pages: Mapping[str, StaticPage] = {
            path: StaticPage(page, bodies) for path, page in pages.items()
        }

    def find(self, event: RequestEvent) -> StaticPage | None:
        """Return the rendered page of a request; None for one that has to be rendered.

        A query may change what a page shows, and a partial refresh asks for less of it.
        """
        if event.raw_path is not None or ONLY in event.headers:
            return None
        if event.scope["query_string"] and not self._alone:
            return None
        return self._pages.get(event.path)


class StaticPage:
    """A rendered page."""

    def __init__(self, page: StoredPage, bodies: Sequence[int] | mmap.mmap) -> None:
        self._page = page
        self._bodies = bodies
        self._drafted = [
            (name.encode("latin-1"), value.encode("latin-1")) for name, value in page.headers
        ]

    def reply(self, page: PageEvent) -> Reply:
        """Return it for one visitor; 304 if the visitor's copy is current."""
        event, site = page.event, page.site
        own = event.draft.raw_headers
        # Where tokens are required, a copy without the cookie is of no use to others.
        private = bool(own or site.hooks.pages) or site.config.csrf.mode == "strict"
        if self._drafted:
            names = {name for name, _ in own}
            own[:0] = [header for header in self._drafted if header[0] not in names]
        event.scope[SAME_FOR_ALL] = True
        encodes = b"accept-encoding" in event.headers and site.config.compression != "off"
        if event.navigation:
            return self._coded(event, self._page.payload, PAYLOAD, [NO_STORE, site.vary], encodes)
        form = self._page.html
        has_nonce = len(form.segments) > 1
        etag = b"etag: %b\r\n" % form.etag.encode()
        nonce = event.audience.nonce()
        lines = page.html_lines(nonce) + etag
        if not (private or has_nonce or b"set-cookie: " in lines):
            lines = lines.replace(_PRIVATE_LINE, _PUBLIC_LINE, 1)
        known = event.headers.get(b"if-none-match")
        if known is not None and matches(known, form.etag.encode()):
            # Without a policy: the client's stored policy matches the nonces of its body.
            allowed = (b"cache-control", b"vary", b"etag", b"set-cookie")
            return Reply(304, b"", b"", [one for one in headers_of(lines) if one[0] in allowed])
        if form.coded and encodes:
            return self._coded(event, form, HTML, headers_of(lines)[1:], encodes)
        body = nonce.join(self._bytes(place) for place in form.segments)
        if form.deflated and encodes:
            pieces = tuple(map(self._bytes, form.deflated))
            event.scope[STORED] = StoredBody(body, pieces, nonce, b"")
        return Reply(200, body, HTML, None, lines)

    def _coded(
        self,
        event: RequestEvent,
        form: StoredRepresentation,
        media: bytes,
        headers: list[Header],
        encodes: bool,
    ) -> Reply:
        """Return the body in the smallest coding that the client takes."""
        coding = None
        if encodes and form.coded:
            coding = read_accepted(event.headers[b"accept-encoding"]).best(tuple(form.coded))
        if coding is None:
            return Reply(200, b"".join(map(self._bytes, form.segments)), media, headers)
        headers.append((b"content-encoding", coding.encode()))
        return Reply(200, self._bytes(form.coded[coding]), media, headers)

    def _bytes(self, place: Slice) -> bytes:
        return bytes(self._bodies[place[0] : place[0] + place[1]])


def stored_renders(build: Path) -> dict[int, Rendered]:
    """Return what a build has rendered of its not-found views, by number. Raises OSError."""
    try:
        index = msgspec.json.decode((build / INDEX).read_bytes(), type=StoredIndex)
        bodies = (build / index.bodies).read_bytes() if index.not_found else b""
    except FileNotFoundError:
        return {}
    return {
        view: Rendered(*(bodies[start : start + size] for start, size in places))
        for view, places in index.not_found.items()
    }


def open_static_pages(
    build: Path, build_id: str, config: Config, *, alone: bool = False
) -> StaticPages | None:
    """Return the rendered pages of a build; None if it has none for these settings.

    ``alone`` is whether no renderer runs beside them. The file of bodies stays mapped while its
    pages are used. Raises OSError.
    """
    try:
        index = msgspec.json.decode((build / INDEX).read_bytes(), type=StoredIndex)
    except FileNotFoundError:
        return None
    wanted = settings_of(config)
    other = sorted(name for name in wanted if index.settings.get(name) != wanted[name])
    if index.build_id != build_id:
        log.warning(_UNUSED, INDEX, "belong to another build", "Restart the server.")
    elif other:
        cause = f"were built with other settings ({', '.join(other)})"
        log.warning(_UNUSED, INDEX, cause, "Run 'fx build' with the current settings.")
    elif index.pages:  # a file without bytes cannot be mapped
        try:
            with (build / index.bodies).open("rb") as file:
                bodies = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError:  # another build has replaced this one since the index was read
            log.warning(_UNUSED, INDEX, "belong to another build", "Restart the server.")
            return None
        return StaticPages(index.pages, bodies, alone=alone)
    return None
