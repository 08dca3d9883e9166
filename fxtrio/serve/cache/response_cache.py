"""The responses of an app's pages with ``CACHE``, kept in this process.

What is stored and fresh is sent as it is. When it has had its time it is still sent,
while one request in the background makes it anew (stale-while-revalidate). Where nothing
is stored, all who ask at the same time wait for one request.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import Context, copy_context
from urllib.parse import unquote, urlsplit

import trio
from starlette.types import ASGIApp, Scope

from fxtrio.compression.threads import Threads
from fxtrio.config import Config
from fxtrio.markdown.paths import page_path
from fxtrio.serve.cache.cached_response import (
    HIT,
    MISS,
    PASS,
    STALE,
    HitForPass,
    StoredResponse,
    Terms,
)
from fxtrio.serve.cache.keys import MARKDOWN_FORM, Key, anonymous_scope, key_of
from fxtrio.serve.cache.public_audience import Everyone
from fxtrio.serve.cache.revalidation import Revalidation
from fxtrio.serve.cache.store import CacheStatistics, ResponseStore
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.pages.payload import encode_requested
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.response.response import Reply

log = logging.getLogger("fx.serve")

RETRY = 5.0
"""After a failed revalidation, the next one in the background waits so long (seconds)."""

MOST_REFRESHES = 32
"""Revalidations in the background at the same time; what finds no place stays stale (count)."""


def make_response_cache(site: Site) -> ResponseCache | None:
    """Return a cache; None in development, and without a page that asks for it."""
    wanted = site.config.cache.bytes and any(plan.revalidate for plan in site.plans)
    return ResponseCache(site.config) if wanted and not site.development else None


class ResponseCache:
    """Keeps the responses of one app, in this process."""

    def __init__(self, config: Config) -> None:
        self._base_url = config.base_url
        self._stale = config.cache.stale
        self._limit = config.timeouts.request + config.timeouts.render
        self._compress = config.compression != "off"
        self._threads = Threads()
        self._shareable = config.csrf.mode != "strict"
        self._store = ResponseStore(config.cache.bytes)
        self._under_way: dict[Key, Revalidation] = {}
        self._refreshes = 0
        self._warned: set[str] = set()
        self.tell: Callable[..., None] | None = None
        """Called with the URLs of each `drop`, for other processes (`invalidation.py`)."""
        self._nursery: trio.Nursery | None = None
        self._context = Context()

    def __repr__(self) -> str:
        return f"<ResponseCache {self.statistics()}, {len(self._under_way)} under way>"

    def statistics(self) -> CacheStatistics:
        """Return what is stored (counts and bytes)."""
        return self._store.statistics()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Let revalidations run for as long as the block lasts; its end cancels them."""
        # They begin in this context: what a request has set belongs to its visitor.
        self._context = copy_context()
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            try:
                yield
            finally:
                self._nursery = None
                nursery.cancel_scope.cancel("the app shuts down")

    def find(self, page: PageEvent, form: bytes) -> Reply | None:
        """Return what is stored, fresh or stale, without waiting; None when nothing is."""
        if not _may_be_stored(page):
            return None
        site, event = page.site, page.event
        key = key_of(event, form)
        entry = self._store.get(key)
        if not isinstance(entry, StoredResponse):
            return None
        now = trio.current_time()
        terms = entry.terms
        age = now - terms.since
        if age < terms.revalidate:
            return entry.reply(site, event, now, HIT)
        if age >= terms.revalidate + self._stale:
            return None
        if now >= entry.retry and key not in self._under_way and self._refreshes < MOST_REFRESHES:
            self._start(key, page, form, background=True)
        return entry.reply(site, event, now, STALE)

    async def obtain(self, page: PageEvent, form: bytes) -> Reply | None:
        """Return what is stored, or what is made now for all who ask.

        None when the page is not kept, or has nothing that is the same for all. The
        route hooks must have let the visitor pass.
        """
        if not _may_be_stored(page):
            return None
        return self.find(page, form) or await self._join(page, form)

    async def _join(self, page: PageEvent, form: bytes) -> Reply | None:
        event = page.event
        key = key_of(event, form)
        revalidation = self._under_way.get(key)
        if revalidation is None:
            entry = self._store.get(key)
            if isinstance(entry, HitForPass) and trio.current_time() < entry.until:
                event.draft.raw_headers.append(PASS)
                return None
            revalidation = self._start(key, page, form, background=False)
        try:
            await revalidation.wait()
        finally:
            if revalidation.abandoned:
                self._forget(revalidation)
        stored = revalidation.audience.response
        if stored is None:
            event.draft.raw_headers.append(PASS)
            return None
        return stored.reply(page.site, event, trio.current_time(), MISS)

    def drop(self, *urls: str) -> int:
        """Forget all forms and queries of each URL's page, and the pages of a route pattern.

        What is loaded at this moment will not be kept either: it may be out of date.
        Returns how many went in this process; other processes hear of it.
        """
        urls = tuple(filter(None, urls))
        if urls and self.tell is not None:
            self.tell(*urls)
        return self.forget(*urls)

    def forget(self, *urls: str) -> int:
        """Do what `drop` does, in this process alone."""
        count = 0
        for url in urls:
            path = self._page_of(url)
            route = encode_requested(path)
            count += self._store.drop_page(path)
            if "[" in path:
                count += self._store.drop_route(route)
            for revalidation in tuple(self._under_way.values()):
                terms = revalidation.audience.terms
                if terms.page == path or terms.route == route:
                    self._forget(revalidation)
        return count

    def forget_all(self) -> None:
        """Forget everything, in this process alone."""
        self._store.clear()
        self._under_way.clear()

    def _page_of(self, url: str) -> str:
        try:
            path = unquote(urlsplit(url).path)
        except ValueError:  # no URL, so nothing is kept under it
            return url
        base = self._base_url
        if base and (path == base or path.startswith(base + "/")):
            path = path[len(base) :]
        return path.rstrip("/") or "/"

    def _start(self, key: Key, page: PageEvent, form: bytes, *, background: bool) -> Revalidation:
        event, plan, nonce = page.event, page.target.plan, page.site.nonce
        path = event.path
        terms = Terms(
            page=(page_path(path) or path) if form == MARKDOWN_FORM else path,
            route=page.target.route,
            since=trio.current_time(),
            revalidate=plan.revalidate or 0.0,
            nonce=nonce,
            shareable=not nonce and self._shareable,
        )
        revalidation = Revalidation(key, plan.view.module, Everyone(terms), background)
        if self._nursery is None:  # the app shuts down
            revalidation.finish()
            return revalidation
        self._under_way[key] = revalidation
        self._refreshes += background
        scope = anonymous_scope(event, revalidation.audience, form=form, query=key[-1])
        app: ASGIApp = event.scope["app"]
        self._context.run(self._nursery.start_soon, self._run, revalidation, app, scope)
        return revalidation

    async def _run(self, revalidation: Revalidation, app: ASGIApp, scope: Scope) -> None:
        deadline = revalidation.audience.terms.since + self._limit
        try:
            await revalidation.request(app, scope, deadline=deadline)
            response = revalidation.audience.response
            if response is not None and self._compress:
                await response.compress(self._threads)
        finally:
            self._refreshes -= revalidation.background
            # One that was forgotten loaded what is out of date by now, or nobody wants it.
            if self._under_way.get(revalidation.key) is revalidation:
                self._forget(revalidation)
                self._settle(revalidation)
            revalidation.finish()

    def _settle(self, revalidation: Revalidation) -> None:
        """Store what the revalidation has come to, or keep what was stored before."""
        store, key, audience = self._store, revalidation.key, revalidation.audience
        response, terms = audience.response, audience.terms
        now = trio.current_time()
        before = store.peek(key)
        failed = revalidation.failed or (response is not None and response.status >= 500)
        if response is not None and response.etag and not failed:
            store.put(key, response)
        elif failed and isinstance(before, StoredResponse):
            before.retry = now + min(RETRY, terms.revalidate)
        elif response is None:
            self._warn(revalidation)
            store.put(key, HitForPass(terms.page, terms.route, now + terms.revalidate))
        elif not audience.degraded:
            store.drop(key)  # the page has gone

    def _warn(self, revalidation: Revalidation) -> None:
        source, reason = revalidation.source, revalidation.audience.reason
        if reason and source not in self._warned:
            self._warned.add(source)
            log.warning("%s: CACHE has no effect: %s", source, reason)

    def _forget(self, revalidation: Revalidation) -> None:
        if self._under_way.get(revalidation.key) is revalidation:
            del self._under_way[revalidation.key]


def _may_be_stored(page: PageEvent) -> bool:
    """Whether the page has ``CACHE``, and is not being made for everyone just now."""
    return page.target.plan.revalidate is not None and page.event.audience.personal
