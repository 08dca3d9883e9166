"""The response cache of an app's pages with ``CACHE``, in the memory of this process.

A fresh entry is sent as it is. A stale entry is still sent, while one background request
revalidates it (stale-while-revalidate). If nothing is cached, concurrent requests share one
render.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import Context, copy_context
from urllib.parse import unquote, urlsplit

import trio
from starlette.types import ASGIApp, Scope

from fxtrio.cache import TAG
from fxtrio.compression.threads import Threads
from fxtrio.config import Config
from fxtrio.markdown.paths import page_path
from fxtrio.serve.cache.cached_response import (
    HIT,
    MISS,
    PASS,
    STALE,
    CachedResponse,
    HitForPass,
    Terms,
)
from fxtrio.serve.cache.keys import MARKDOWN_NAME, Key, anonymous_scope, key_of
from fxtrio.serve.cache.public_audience import PublicAudience
from fxtrio.serve.cache.revalidation import Revalidation
from fxtrio.serve.cache.store import CacheStatistics, ResponseStore
from fxtrio.serve.pages.page import PageEvent
from fxtrio.serve.pages.payload import encode_requested
from fxtrio.serve.pages.site import Site
from fxtrio.serve.request.response.response import Reply

log = logging.getLogger("fx.serve")

RETRY = 5.0
"""Pause after a failed revalidation before the next one in the background (seconds)."""

MOST_REFRESHES = 32
"""Concurrent background revalidations; beyond these an entry stays stale (count)."""


def make_response_cache(site: Site) -> ResponseCache | None:
    """Return a cache; None in development, and if no page has ``CACHE``."""
    wanted = site.config.cache.bytes and any(plan.revalidate for plan in site.plans)
    return ResponseCache(site.config) if wanted and not site.development else None


class ResponseCache:
    """Caches the responses of one app, in this process."""

    def __init__(self, config: Config) -> None:
        self._base_url = config.base_url
        self._stale = config.cache.stale
        self._render_timeout = config.timeouts.render
        self._compress = config.compression != "off"
        self._threads = Threads()
        self._shareable = config.csrf.mode != "strict"
        self._store = ResponseStore(config.cache.bytes)
        self._under_way: dict[Key, Revalidation] = {}
        self._refreshes = 0
        self._warned: set[str] = set()
        self.on_drop: Callable[..., None] | None = None
        """Called with the URLs of each `drop`, for other processes (`invalidation.py`)."""
        self._nursery: trio.Nursery | None = None
        self._context = Context()

    def __repr__(self) -> str:
        return f"<ResponseCache {self.statistics()}, {len(self._under_way)} under way>"

    def statistics(self) -> CacheStatistics:
        """Return the cache's counts and sizes (bytes)."""
        return self._store.statistics()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Let revalidations run for as long as the block lasts; its end cancels them."""
        # Revalidations run in this context: a request's context variables are the visitor's.
        self._context = copy_context()
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            try:
                yield
            finally:
                self._nursery = None
                nursery.cancel_scope.cancel("the app shuts down")

    def find(self, page: PageEvent, representation: bytes) -> Reply | None:
        """Return the entry, fresh or stale, without waiting; None if there is none."""
        if not _may_be_stored(page):
            return None
        site, event = page.site, page.event
        key = key_of(event, representation)
        entry = self._store.get(key)
        if not isinstance(entry, CachedResponse):
            return None
        now = trio.current_time()
        terms = entry.terms
        age = now - terms.since
        if age < terms.revalidate:
            return entry.reply(site, event, now, HIT)
        if age >= terms.revalidate + self._stale:
            return None
        if now >= entry.retry and key not in self._under_way and self._refreshes < MOST_REFRESHES:
            self._start(key, page, representation, background=True)
        return entry.reply(site, event, now, STALE)

    async def obtain(self, page: PageEvent, representation: bytes) -> Reply | None:
        """Return the cached response, or render it once for all concurrent requests.

        None if the page is not cached, or its response depends on the visitor. The route
        hooks must have accepted the visitor.
        """
        if not _may_be_stored(page):
            return None
        return self.find(page, representation) or await self._join(page, representation)

    async def _join(self, page: PageEvent, representation: bytes) -> Reply | None:
        event = page.event
        key = key_of(event, representation)
        revalidation = self._under_way.get(key)
        if revalidation is None:
            entry = self._store.get(key)
            if isinstance(entry, HitForPass) and trio.current_time() < entry.until:
                event.draft.raw_headers.append(PASS)
                return None
            revalidation = self._start(key, page, representation, background=False)
        try:
            await revalidation.wait()
        finally:
            if revalidation.abandoned:  # it is cancelled, so the next request must not join it
                self._forget(revalidation)
        stored = revalidation.audience.response
        if stored is None:
            event.draft.raw_headers.append(PASS)
            return None
        return stored.reply(page.site, event, trio.current_time(), MISS)

    def drop(self, *urls: str) -> int:
        """Drop all representations and queries of each URL's page, and the pages of a pattern.

        A `TAG` stands for the pages that have it.

        Responses that are being rendered are not cached either: their data may be outdated.
        Returns how many entries this process dropped; other processes are notified.
        """
        urls = tuple(filter(None, urls))
        if urls and self.on_drop is not None:
            self.on_drop(*urls)
        return self.forget(*urls)

    def forget(self, *urls: str) -> int:
        """Do what `drop` does, in this process alone."""
        count = 0
        for url in urls:
            if url.startswith(TAG):
                count += self._store.drop_tag(unquote(url[len(TAG) :]))
                self._under_way.clear()  # whose tags are not known yet
                continue
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
        except ValueError:  # no URL, so nothing is cached for it
            return url
        base = self._base_url
        if base and (path == base or path.startswith(base + "/")):
            path = path[len(base) :]
        return path.rstrip("/") or "/"

    def _start(
        self, key: Key, page: PageEvent, representation: bytes, *, background: bool
    ) -> Revalidation:
        event, plan, nonce = page.event, page.target.plan, page.site.nonce
        path = event.path
        terms = Terms(
            page=(page_path(path) or path) if representation == MARKDOWN_NAME else path,
            route=page.target.route,
            since=trio.current_time(),  # its data may be as old as the beginning of the render
            revalidate=plan.revalidate or 0.0,
            nonce=nonce,
            shareable=not nonce and self._shareable,
        )
        revalidation = Revalidation(key, plan.view.module, PublicAudience(terms), background)
        if self._nursery is None:  # the app shuts down
            revalidation.finish()
            return revalidation
        self._under_way[key] = revalidation
        self._refreshes += background
        scope = anonymous_scope(
            event, revalidation.audience, representation=representation, query=key[-1]
        )
        app: ASGIApp = event.scope["app"]
        # This task serves all who wait, and has a deadline of its own: the request that has started
        # it may be cancelled meanwhile. The rest is for the page that a timeout shows.
        deadline = terms.since + event.timeout + self._render_timeout
        self._context.run(self._nursery.start_soon, self._run, revalidation, app, scope, deadline)
        return revalidation

    async def _run(
        self, revalidation: Revalidation, app: ASGIApp, scope: Scope, deadline: float
    ) -> None:
        try:
            await revalidation.request(app, scope, deadline=deadline)
            response = revalidation.audience.response
            if response is not None and self._compress:
                await response.compress(self._threads)
        finally:
            self._refreshes -= revalidation.background
            # The data of a dropped one is outdated, or no request waits for it.
            if self._under_way.get(revalidation.key) is revalidation:
                self._forget(revalidation)
                self._settle(revalidation)
            revalidation.finish()

    def _settle(self, revalidation: Revalidation) -> None:
        """Store the result of the revalidation, or keep the previous entry."""
        store, key, audience = self._store, revalidation.key, revalidation.audience
        response, terms = audience.response, audience.terms
        now = trio.current_time()
        before = store.peek(key)
        status = audience.translated if response is None else response.status
        failed = revalidation.failed or status >= 500
        # Only what may be stored for others has an ETag.
        if response is not None and response.etag and not failed:
            store.put(key, response)
        elif failed and isinstance(before, CachedResponse):
            # An older page is better than an error, for as long as it may be stale; the pause keeps
            # a page that fails from being rendered for each of its requests.
            before.retry = now + min(RETRY, terms.revalidate)
        elif response is None:
            self._warn(revalidation)
            until = now + (min(RETRY, terms.revalidate) if status else terms.revalidate)
            # Without this each request of a page that depends on its visitor would first wait for
            # a shared render, and get nothing of it.
            store.put(key, HitForPass(terms.page, terms.route, until))
        elif not audience.degraded:
            store.drop(key)  # the page no longer exists

    def _warn(self, revalidation: Revalidation) -> None:
        source, reason = revalidation.source, revalidation.audience.reason
        if reason and source not in self._warned:
            self._warned.add(source)
            log.warning("%s: CACHE has no effect: %s", source, reason)

    def _forget(self, revalidation: Revalidation) -> None:
        # Another one may have begun for this key since it was dropped.
        if self._under_way.get(revalidation.key) is revalidation:
            del self._under_way[revalidation.key]


def _may_be_stored(page: PageEvent) -> bool:
    """Whether the page has ``CACHE``, and this is not the anonymous request itself."""
    return page.target.plan.revalidate is not None and page.event.audience.personal
