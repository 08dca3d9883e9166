"""`write_static_pages`: the pages with ``STATIC = True``, rendered during the build.

The app runs in this process and answers requests of nobody, as for `fx export`; `fx serve` sends
what they came to (`fxtrio.serve.cache.static_pages`). Called by `fx build`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache, partial
from hashlib import blake2b
from html import escape
from pathlib import Path
from urllib.parse import quote

import attrs
import msgspec
import trio
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Scope

from fxtrio.app import assemble, open_pool
from fxtrio.application import Application
from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.compression.codings import encode_whole, smallest_first
from fxtrio.compression.eligibility import LEAST
from fxtrio.compression.gzip_splice import deflate_pieces
from fxtrio.config import Config
from fxtrio.context import entered
from fxtrio.errors import SeveralProblems
from fxtrio.export.audience import ExportAudience
from fxtrio.export.capture import UNANSWERED
from fxtrio.export.errors import Finding
from fxtrio.export.known_paths import known_paths
from fxtrio.export.place import Place
from fxtrio.export.plan import Text, placed
from fxtrio.manifest import Manifest, PageRoute
from fxtrio.routes.router import Router
from fxtrio.secret_key import project_key
from fxtrio.serve.cache.anonymous_request import AnonymousRequest
from fxtrio.serve.cache.static_pages import (
    INDEX,
    Slice,
    StoredIndex,
    StoredPage,
    StoredRepresentation,
    settings_of,
)
from fxtrio.serve.cache.stored_renderer import is_of_no_page
from fxtrio.serve.pages.resources import Renderer, RenderParts
from fxtrio.serve.request.audience import AUDIENCE
from fxtrio.serve.request.client_protocol import NAVIGATION
from fxtrio.serve.request.response.response import Answer, Reply, ResponseDraft
from fxtrio.ssr.frames import Rendered

_MISSING = "fx-missing"
"""The end of URLs that no page has, to find out what not-found views show."""

OpenRenderer = Callable[[], AbstractAsyncContextManager[Renderer]]

_AT_ONCE = 8
"""Pages that are rendered at a time (count)."""

NOWHERE = Place("https", "static.fx.invalid")
"""What requests are for unless the site is named: a page that shows it would show it to all."""

_OR = "or remove STATIC"
_OF_HOST = "the host of request.url, which a build does not know"
_REMEDY_OF_HOST = f"Name the site with 'fx build --site', {_OR}"
_OF_ID = "request.state.request_id, which differs between requests"


class StaticFailed(SeveralProblems[Finding]):
    """Pages with ``STATIC = True`` differ between requests; ``problems`` has each reason."""


@attrs.define(eq=False)
class _Audience(ExportAudience):
    """Everybody, until the next build. `reply` is what the page answered, without middleware."""

    placeholder: bytes = b""
    place: Place = NOWHERE
    reply: Answer | None = attrs.field(default=None, init=False)
    headers: tuple[tuple[bytes, bytes], ...] = attrs.field(default=(), init=False)
    status: int = attrs.field(default=0, init=False)
    """What middleware has made of the status; 0 where nothing was sent."""

    request_id: str = attrs.field(default="", init=False)

    def connect(self, scope: Scope) -> Request:
        """Return a request of nobody, without a query: one with a query is not for this page."""
        return AnonymousRequest(scope, _nothing, self.reads)

    def shows_place(self, text: bytes) -> bool:
        """Return whether a text has the host of a site that nobody has named."""
        return self.place is NOWHERE and self.place.host.encode() in text

    def nonce(self) -> bytes:
        """Return the placeholder, which is replaced for each visitor."""
        return self.placeholder

    def take(self, answer: Answer, draft: ResponseDraft) -> Answer:
        """Receive the page's response; return the part that middleware may see."""
        self.reply, self.headers = answer, tuple(draft.raw_headers)
        return answer


async def write_static_pages(
    root: Path,
    config: Config,
    build: Path,
    manifest: Manifest,
    *,
    open_renderer: OpenRenderer | None = None,
    place: Place = NOWHERE,
) -> int:
    """Render the static pages of a build into its folder, and return how many there are.

    ``root`` is absolute. ``place`` is where the app will be, if that is known. An app without such
    pages is not imported. Raises StaticFailed with every reason, and writes nothing then; also
    OSError, and what the project's modules raise on import.
    """
    routes = tuple(
        route
        for route in manifest.routes
        if manifest.modules[manifest.views[route.view].module].static
    )
    if not routes:
        return 0
    keys = config.secret_keys or (project_key(root),)
    jobs = replace(config.jobs, workers=0)
    running = replace(config, jobs=jobs, secret_keys=keys)
    opening = open_renderer or partial(open_pool, build, manifest, running)
    recorder = _Recorder(opening)
    app = assemble(root, running, build, manifest, open_renderer=recorder.open)
    text = cache(partial(_text_of, root))
    rendering = _Rendering(app, text, config.compression != "off", place)
    async with app.router.lifespan_context(app):
        with entered(app.state.fx):
            await rendering.run(routes)
            if manifest.is_static:  # then a server without Node shows them as well
                await rendering.run_not_found(recorder)
    if rendering.findings:
        raise StaticFailed(tuple(sorted(dict.fromkeys(rendering.findings))))
    content = b"".join(rendering.parts)
    bodies = f"static-pages-{blake2b(content, digest_size=8).hexdigest()}.bin"
    (build / bodies).write_bytes(content)
    pages = dict(sorted(rendering.pages.items()))
    index = StoredIndex(manifest.build_id, settings_of(config), bodies, pages, rendering.not_found)
    (build / INDEX).write_bytes(msgspec.json.encode(index))
    return len(rendering.pages)


def _shows_message(html: bytes, payload: bytes) -> bool:
    """Whether the HTML of a not-found view has the message of its error, escaped or not."""
    message = msgspec.json.decode(payload).get("error", "")
    return any(form.encode() in html for form in (message, escape(message)))


def _text_of(root: Path, source: str) -> str:
    try:
        return (root / source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # for lines of messages alone
        return ""


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


@attrs.define(eq=False)
class _Recorder:
    """A renderer that keeps the last render of each view, with its payload."""

    _opening: OpenRenderer
    last: dict[int, tuple[Rendered, bytes]] = attrs.field(factory=dict)
    _renderer: Renderer | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[_Recorder]:
        """Run the renderer behind it while the block lasts."""
        async with self._opening() as self._renderer:
            yield self

    async def render(self, page: int, payload: bytes) -> Rendered:
        """Return the render, and keep it. Raises what the renderer does."""
        assert self._renderer is not None
        rendered = await self._renderer.render(page, payload)
        self.last[page] = rendered, payload
        return rendered

    def stream(self, page: int, payload: bytes) -> AbstractAsyncContextManager[RenderParts]:
        """Return the render in parts, of which none is stored."""
        assert self._renderer is not None
        return self._renderer.stream(page, payload)


@attrs.define(eq=False)
class _Rendering:
    """The static pages of one build, while they are rendered."""

    app: Application
    text: Text
    compress: bool
    place: Place
    pages: dict[str, StoredPage] = attrs.field(factory=dict)
    parts: list[bytes] = attrs.field(factory=list)
    findings: list[Finding] = attrs.field(factory=list)
    not_found: dict[int, tuple[Slice, Slice]] = attrs.field(factory=dict)
    _size: int = 0
    """Of all parts (bytes)."""

    async def run(self, routes: tuple[PageRoute, ...]) -> None:
        """Render all pages of ``routes``, and collect everything that is wrong."""
        targets = [(path, route) for route in routes for path in await self._paths(route)]
        unfinished = iter(targets)

        async def work() -> None:
            for path, route in unfinished:
                await self._render(path, route)

        async with trio.open_nursery() as nursery:
            for _ in range(min(_AT_ONCE, len(targets))):
                nursery.start_soon(work)

    async def run_not_found(self, recorder: _Recorder) -> None:
        """Keep the renders of those not-found views that are the same for each URL."""
        manifest, nonce = self.app.site.manifest, self.app.site.nonce
        # Longer than all pages: a page with parameters would be asked for itself.
        depth = max(route.pattern.count("/") for route in manifest.routes) + 1
        below = f"/{_MISSING}" * depth
        for folder, number in sorted(manifest.not_found.items()):
            view = manifest.views[number]
            if any(manifest.modules[one].loader for one in (*view.layouts, view.module)):
                continue
            audience = await self._ask(folder.rstrip("/") + below, (b"accept", b"*/*"))
            if number not in recorder.last or audience.reads.found:
                continue
            rendered, payload = recorder.last[number]
            if not is_of_no_page(payload):
                continue  # it may say something else for each value of the parameters
            whole = rendered.head + rendered.html
            if self.app.site.config.translate and _shows_message(whole, payload):
                continue  # visitors read different languages
            if _MISSING.encode() not in whole and not (nonce and nonce in whole):
                self.not_found[number] = self._put(rendered.head), self._put(rendered.html)

    async def _paths(self, route: PageRoute) -> list[str]:
        manifest = self.app.site.manifest
        module = manifest.modules[manifest.views[route.view].module]
        if module.revalidate is not None:
            remedy = "Remove one of them: a static page stays as it is until the next build"
            self.findings.append(Finding(module.source, "has STATIC and CACHE", remedy))
            return []
        if "[" not in route.pattern:
            return [route.pattern]
        if not module.paths:
            remedy = f"Add 'async def paths()' that returns the parameters of each page, {_OR}"
            cause = f"the pages of {route.pattern} are not known"
            self.findings.append(Finding(module.source, cause, remedy))
            return []
        router = Router((one.pattern, one) for one in manifest.routes)
        paths, wrong = await known_paths(self.app, route, router, self.text)
        self.findings += wrong
        return paths

    async def _render(self, path: str, route: PageRoute) -> None:
        manifest = self.app.site.manifest
        module = manifest.modules[manifest.views[route.view].module]
        loader = module.loader
        place = module.source if loader is None else placed(module.source, loader, self.text)
        html = await self._ask(path, (b"accept", b"text/html"))
        payload = await self._ask(path, (NAVIGATION, b"1"))
        wrong = [*_reasons(html, path, place), *_reasons(payload, path, place)]
        if wrong:
            self.findings += wrong
            return
        assert isinstance(html.reply, Reply)
        assert isinstance(payload.reply, Reply)
        headers = tuple((_text(name), _text(value)) for name, value in html.headers)
        form = self._stored(html.reply.body)
        self.pages[path] = StoredPage(form, self._stored(payload.reply.body), headers)

    async def _ask(self, path: str, header: tuple[bytes, bytes]) -> _Audience:
        """Return the audience of one request, which has its response."""
        site = self.app.site
        audience = _Audience(placeholder=site.nonce, place=self.place)
        url = site.base_url + path if path != "/" or not site.base_url else site.base_url
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": self.place.scheme,
            "server": self.place.server,
            "client": None,
            "root_path": "",
            "path": url,
            "raw_path": quote(url, safe=SAFE_IN_PATHS).encode(),
            "query_string": b"",
            "headers": [header, (b"host", self.place.host.encode())],
            "state": {},
            AUDIENCE: audience,
        }

        unread = [await _nothing()]

        async def receive() -> Message:
            """Return the empty body once: what waits for the end of a client would spin."""
            if not unread:
                await trio.sleep_forever()
            return unread.pop()

        async def send(message: Message) -> None:
            """Ignore the response of the middleware, but for its status."""
            if message["type"] == "http.response.start":
                audience.status = message["status"]

        await self.app(scope, receive, send)
        audience.request_id = scope["state"].get("request_id", "")
        return audience

    def _stored(self, body: bytes) -> StoredRepresentation:
        """Put a body among the parts, in all the forms that are sent."""
        nonce = self.app.site.nonce
        segments = body.split(nonce) if nonce else [body]
        etag = f'W/"{blake2b(b"".join(segments), digest_size=12).hexdigest()}"'
        places = tuple(map(self._put, segments))
        if not self.compress or len(body) < LEAST:
            return StoredRepresentation(etag, places)
        if len(segments) > 1:
            return StoredRepresentation(
                etag, places, deflated=tuple(map(self._put, deflate_pieces(segments)))
            )
        coded = {
            coding: self._put(encode_whole(coding, body, best=True)) for coding in smallest_first()
        }
        return StoredRepresentation(etag, places, coded=coded)

    def _put(self, part: bytes) -> Slice:
        place = (self._size, len(part))
        self.parts.append(part)
        self._size += len(part)
        return place


def _reasons(audience: _Audience, path: str, place: str) -> Iterator[Finding]:
    """Yield each reason why a response is not the same for everybody."""
    reply = audience.reply
    if not audience.admitted and audience.hook:
        cause = f"the route hook {audience.hook} responds to {path}"
        yield Finding(place, cause, f"Let everybody have the page, {_OR}")
        return
    for where, reader, remedy, names in audience.reads.by_reader(place):
        cause = f"{reader} reads {names}, which differs between requests"
        yield Finding(where, cause, f"{remedy}, {_OR}")
    yield from _wrong_headers(audience, place)
    if audience.degraded:
        yield Finding(place, f"{path} could not be rendered", "See the log above")
    elif reply is None and not audience.status:
        remedy = "Call the app, or send a response"
        yield Finding(place, f"{path} {UNANSWERED}", remedy)
    elif reply is None:
        cause = f"a middleware responds to {path} with {audience.status} before the page"
        remedy = f"Let it pass requests for the host {audience.place.host}"
        if audience.place is NOWHERE:
            remedy += ", name one that it knows with 'fx build --site'"
        yield Finding(place, cause, f"{remedy}, {_OR}")
    elif not isinstance(reply, Reply) or reply.status != 200:
        yield _refusal(reply, path, place)
    elif audience.shows_place(reply.body):
        yield Finding(place, f"the page shows {_OF_HOST}", _REMEDY_OF_HOST)
    elif audience.request_id and audience.request_id.encode() in reply.body:
        yield Finding(place, f"the page shows {_OF_ID}", f"Leave it out, {_OR}")


def _refusal(reply: Answer, path: str, place: str) -> Finding:
    """Return what a page answered instead of itself."""
    status = getattr(reply, "status", None) or getattr(reply, "status_code", "nothing")
    if isinstance(reply, Response) and "location" in reply.headers:
        to = f"{path} redirects to {reply.headers['location']}"
        return Finding(place, to, f"Return the page's values, {_OR}")
    return Finding(
        place, f"{path} responds with {status}", f"Fix the error in the log above, {_OR}"
    )


def _wrong_headers(audience: _Audience, place: str) -> Iterator[Finding]:
    """Yield each header that is not the same for everybody."""
    for name, value in audience.headers:
        if name == b"set-cookie":
            yield Finding(place, "its response sets a cookie", f"Set it elsewhere, {_OR}")
        elif name in (b"vary", b"date", b"age"):
            cause = f"its response has the header {_text(name).title()}"
            yield Finding(place, cause, f"Leave it out, {_OR}")
        elif audience.shows_place(value):
            yield Finding(place, f"its header {_text(name)} has {_OF_HOST}", _REMEDY_OF_HOST)
        elif audience.request_id and audience.request_id.encode() in value:
            cause = f"its header {_text(name)} has {_OF_ID}"
            yield Finding(place, cause, f"Leave it out, {_OR}")


def _text(data: bytes) -> str:
    """Decode a header as HTTP/1.1 does: any bytes may be in it."""
    return data.decode("latin-1")
