"""One request for one page: its payload, its HTML and their headers.

Errors are left to the callers, `boundaries` and `render`.
"""

from __future__ import annotations

import html
import logging
import re
from collections.abc import Awaitable, Mapping
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec.structs import replace
from starlette.requests import Request

from fxtrio.asgi_extensions import SAFE_IN_PATHS
from fxtrio.compression.gzip_splice import STORED
from fxtrio.serve.pages.html.large import LARGE, footprint
from fxtrio.serve.pages.loaders import Values
from fxtrio.serve.pages.payload import (
    Content,
    EncodedValues,
    Location,
    encode_page_data,
    encode_params,
    encode_requested,
    payload_around,
)
from fxtrio.serve.pages.plan import ViewPlan
from fxtrio.serve.pages.resources import Running
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.client_protocol import PAYLOAD
from fxtrio.serve.request.event import PLAIN_URL, RequestEvent
from fxtrio.serve.request.response.response import HTML, Reply
from fxtrio.server.http1.response import header_lines
from fxtrio.spans import span
from fxtrio.ssr.errors import SsrDown
from fxtrio.ssr.frames import Rendered

log = logging.getLogger("fx.serve")

# React writes attributes in double quotes, and no "<", ">" or quote within them.
_INPUT = re.compile(rb"<input\b[^<>]*+>")
_ATTRIBUTE = re.compile(rb' (type|name)="([^"]*)"')


class Target(msgspec.Struct, frozen=True):
    """The target of a URL: a view, with the URL's pattern and parameters."""

    plan: ViewPlan
    route: bytes
    """The pattern as JSON; ``null`` for an unmatched URL."""

    params: Mapping[str, str]
    url: bytes | None = None
    """The only path by which a client names it, base URL included; None if there are others."""

    location: Location | None = None
    """How a request for ``url`` names it, without a query."""

    around: tuple[bytes, bytes] | None = None
    """What is around the data in payloads of navigation to ``url`` (`payload_around`)."""


def literal_target(site: Site, plan: ViewPlan, pattern: str) -> Target:
    """Return the target of a pattern without parameters, which all its requests share."""
    route = encode_requested(pattern)
    url = quote(site.base_url, safe=SAFE_IN_PATHS).encode() + pattern.encode()
    if not PLAIN_URL.fullmatch(url):
        return Target(plan, route, {})
    location = Location(route, b'"%b"' % url, b"{}")
    return Target(plan, route, {}, url, location, site.encoder.around_data(plan, location))


class PageEvent(msgspec.Struct, frozen=True, eq=False):
    """A request that led to a page."""

    site: Site
    running: Running
    event: RequestEvent
    target: Target
    request: Request
    """The request for loaders and hooks."""

    @property
    def place(self) -> str:
        """The page file, for messages."""
        return self.target.plan.view.module

    def show_loaded(self, values: Values, status: int) -> Reply | Awaitable[Reply]:
        """Return the page with the values of its loaders; what is to be awaited where it has to
        be rendered. Raises what encoding raises."""
        site, event, target = self.site, self.event, self.target
        plan, location = target.plan, self._location()
        if event.navigation:
            around = target.around if location is target.location else None
            if around is not None and not event.draft.tags:
                payload = payload_around(around, status, encode_page_data(plan, values))
            else:
                loaded = site.encoder.encode_values(plan, values)
                payload = self._join(plan, Content(values, status), location, loaded)
            return self._payload_reply(plan, status, payload)
        loaded = site.encoder.encode_values(plan, values)
        cache = site.render_cache if plan.memo else None
        if cache is None:
            return self._show_document(plan, Content(values, status), location, loaded)
        # What a document depends on besides its view and its URL.
        state = (
            status,
            site.root,
            location.route,
            location.params,
            loaded.data,
            loaded.layouts,
            loaded.layout_data,
            loaded.head,
        )
        now = self.running.watchdog.now()
        document = cache.find_document(plan.view.id, location.requested, state, now)
        if document is None:
            return self._show_document(plan, Content(values, status), location, loaded, state)
        site.large.note(plan.view.id, document.payload)
        nonce = event.audience.nonce()
        body = nonce.join(document.pieces)
        if b"accept-encoding" in event.headers:
            event.scope[STORED] = document.stored(body, nonce)
        return Reply(status, body, HTML, None, self.html_lines(nonce))

    async def show(self, plan: ViewPlan, content: Content) -> Reply:
        """Return a view in the requested representation. Raises what the render raises."""
        location = self._location()
        loaded = self.site.encoder.encode_values(plan, content.values, content.only)
        if self.event.navigation:
            payload = self._join(plan, content, location, loaded)
            return self._payload_reply(plan, content.status, payload)
        return await self._show_document(plan, content, location, loaded)

    def _payload_reply(self, plan: ViewPlan, status: int, payload: bytes) -> Reply:
        self.site.large.note(plan.view.id, len(payload))
        return Reply(status, payload, PAYLOAD, None, self.site.payload_lines)

    async def _show_document(
        self,
        plan: ViewPlan,
        content: Content,
        location: Location,
        loaded: EncodedValues,
        state: tuple[object, ...] | None = None,
    ) -> Reply:
        """Return a view as HTML. With ``state`` the document is cached for it."""
        site, audience = self.site, self.event.audience
        nonce, cache = audience.nonce(), site.render_cache
        payload = self._join(plan, content, location, loaded)
        site.large.note(plan.view.id, len(payload))
        frame = site.frames[plan.view.id]
        try:
            if content.action_data is None:
                rendered, is_cached = await self._render(plan, payload)
                if is_cached and cache is not None and state is not None:
                    whole = frame.whole(rendered, payload, site.nonce)
                    cache.keep_document(
                        plan.view.id, location.requested, payload, state, whole, site.nonce
                    )
            else:
                rendered, payload = await self._render_again(plan, content, payload)
        except SsrDown as error:
            log.error("%s: %s The browser renders it.", plan.view.module, error)
            rendered = Rendered(b"", b"")
            audience.leave_to_browser()
            if content.action_data is not None:  # which fields are passwords is unknown
                data = {**content.action_data, "values": {}}
                payload = self.payload(plan, replace(content, action_data=data))
        return Reply(
            content.status,
            frame.whole(rendered, payload, nonce),
            HTML,
            None,
            self.html_lines(nonce),
        )

    def payload(self, plan: ViewPlan, content: Content) -> bytes:
        """Return the payload of a view for this request. Raises what `PayloadEncoder` raises."""
        values = self.site.encoder.encode_values(plan, content.values, content.only)
        return self._join(plan, content, self._location(), values)

    def _location(self) -> Location:
        event, target = self.event, self.target
        scope, known = event.scope, target.location
        if (
            known is not None
            and target.url == scope.get("raw_path")
            and not scope["query_string"]
            and event.page_url is None
        ):
            return known
        return Location(
            target.route,
            event.requested_json or encode_requested(event.requested),
            encode_params(target.params),
        )

    def _join(
        self, plan: ViewPlan, content: Content, location: Location, values: EncodedValues
    ) -> bytes:
        event, site = self.event, self.site
        join = site.encoder.join
        if event.navigation:
            # Without the placeholder: it is this process's secret, and nothing replaces it here.
            ttl = event.audience.time_to_live(self.target.plan.revalidate)
            if content.promises and event.audience.streams:  # leaving the page ends the response
                ttl = 0
            return join(plan, content, location, values, ttl=ttl, tags=event.draft.tags)
        return join(plan, content, location, values, nonce=site.nonce)

    def html_lines(self, nonce: bytes) -> bytes:
        """Return the headers of an HTML response as lines, besides its length."""
        site, event = self.site, self.event
        lines = nonce.join(site.html_lines)
        if event.settled:
            url = event.requested.encode("latin-1").replace(b">", b"%3E")
            lines += header_lines([(b"link", b'<%b>; rel="canonical"' % url)]) or b""
        # One visitor's proof is nothing for the others.
        if event.draft.shared or not event.audience.personal:
            return lines
        cookie = site.proof.token(event, self.request)[1]
        return b"%bset-cookie: %b\r\n" % (lines, cookie) if cookie else lines

    async def _render_again(
        self, plan: ViewPlan, content: Content, payload: bytes
    ) -> tuple[Rendered, bytes]:
        """Render the page of a failed form, without the submitted passwords.

        The result is not cached.
        """
        rendered = await self._run_render(plan, payload)
        data = without(content.action_data or {}, password_fields(rendered.html))
        if data is None:
            return rendered, payload
        payload = self.payload(plan, replace(content, action_data=data))
        return await self._run_render(plan, payload), payload

    async def render(self, plan: ViewPlan, payload: bytes) -> Rendered:
        """Render a payload, or return the cached HTML of an equal one."""
        return (await self._render(plan, payload))[0]

    async def _render(self, plan: ViewPlan, payload: bytes) -> tuple[Rendered, bool]:
        """Return the same, and whether it was cached."""
        view = plan.view.id
        cache = self.site.render_cache
        if cache is None or not plan.memo:
            return await self._render_uncached(plan, payload), False
        now = self.running.watchdog.now()
        rendered = cache.find(view, payload, now)
        if rendered is not None:
            return rendered, True
        rendered = await self._render_uncached(plan, payload)
        cache.keep(view, payload, rendered, now)
        return rendered, False

    async def _render_uncached(self, plan: ViewPlan, payload: bytes) -> Rendered:
        """Render a payload; a large one only while not too much waits for slow clients."""
        if len(payload) < LARGE:
            return await self._run_render(plan, payload)
        async with self.site.large.rendering(
            payload,
            self.place,
            footprint=footprint(payload),
            reserved=self.event.reserved,
            address=self.event.address,
        ):
            return await self._run_render(plan, payload)

    async def _run_render(self, plan: ViewPlan, payload: bytes) -> Rendered:
        with span("render", plan.view.module):
            return await self.running.renderer.render(plan.view.id, payload)


def password_fields(rendered: bytes) -> frozenset[str]:
    """Return the names of the password fields in a page's HTML, as React writes it.

    A page that repeats what a failed form was filled with must not repeat passwords. Only the
    page says which fields those are: it is rendered, and once more without the values of these.
    """
    fields = (dict(_ATTRIBUTE.findall(found)) for found in _INPUT.findall(rendered))
    return frozenset(
        html.unescape(field[b"name"].decode())
        for field in fields
        if field.get(b"type", b"").lower() == b"password" and b"name" in field
    )


def without(action_data: Mapping[str, Any], names: frozenset[str]) -> Mapping[str, Any] | None:
    """Return a form's outcome without the values of ``names``; None when it has none of them."""
    values: Mapping[str, Any] = action_data["values"]
    if names.isdisjoint(values):
        return None
    safe_values = {name: value for name, value in values.items() if name not in names}
    return {**action_data, "values": safe_values}
