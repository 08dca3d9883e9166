"""Flights: one anonymous visit to a page for all who ask for it at the same time.

A flight belongs to the app, not to the request that began it: it goes on while anybody
waits, and ends when nobody does. What it comes to is kept (`kept.py`), so that later
visits need none. When a kept response has had its time it is still sent, while one
flight in the background makes it anew.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import Context, copy_context
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import attrs
import trio
from starlette.types import ASGIApp, Message, Scope

from fxtrio.config import Config
from fxtrio.markdown.paths import page_path
from fxtrio.serve.cache.anonymous import (
    FORM_MARKDOWN,
    Reads,
    anonymous_scope,
    canonical_query,
    not_shared,
    raw_path,
)
from fxtrio.serve.cache.store import CacheStatistics, KeptResponses, Key
from fxtrio.serve.cache.stored import HIT, MISS, PASS, STALE, Copy, Pass, make_copy
from fxtrio.serve.pages.payload import encode_requested
from fxtrio.serve.request.reply import Answer, Reply

if TYPE_CHECKING:
    from fxtrio.serve.pages.page import PageVisit
    from fxtrio.serve.pages.site import Site
    from fxtrio.serve.request.event import Visit

log = logging.getLogger("fx.serve")

RETRY = 5.0
"""After a failed flight, the next one in the background waits so long (seconds)."""

MOST_REFRESHES = 32
"""Flights in the background at the same time; what finds no place stays stale (count)."""


@attrs.define(eq=False)
class Flight:
    """One anonymous visit under way. The page's code finds it at `Visit.flight`."""

    site: Site
    key: Key
    page: str
    route: bytes
    source: str
    """The page file, for messages."""

    revalidate: float
    began: float
    background: bool
    """Whether nobody needs to wait for it."""

    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    done: trio.Event = attrs.field(factory=trio.Event)
    waiting: int = 0
    reads: Reads = attrs.field(factory=Reads)
    """What code has read of the visitor."""

    passed: bool = False
    """Whether the route hooks let anybody pass."""

    of_hooks: int = 0
    """Headers of the response that the route hooks have set, which come first (count)."""

    degraded: bool = False
    """Whether the page could not be rendered here, and was left to the browser."""

    reason: str = ""
    """Why the response cannot be the same for all, and what to do about it; "" when it can,
    or is not known."""

    copy: Copy | None = None
    """What all who wait get; None sends each their own way."""

    def take(self, answer: Answer | None, visit: Visit) -> Answer | None:
        """Take the page's answer; return what middleware may see of it."""
        draft, site = visit.draft, self.site
        self.reason = _personal(self.reads, draft.raw_headers, self.of_hooks)
        if not isinstance(answer, Reply):  # a redirect, or a hook's own response
            return answer
        if not self.passed:
            return answer
        if not self.reason:
            config = site.config
            self.copy = make_copy(
                answer,
                draft,
                page=self.page,
                route=self.route,
                nonce=site.nonce,
                since=self.began,
                revalidate=self.revalidate,
                # A nonce, and with strict protection the token cookie, is for one visitor.
                shareable=not site.nonce and config.csrf.mode != "strict",
                kept=answer.status == 200 and not self.degraded,
            )
        return Reply(answer.status, b"", answer.media)


def _personal(reads: Reads, drafted: list[tuple[bytes, bytes]], of_hooks: int) -> str:
    """Return why others may not have the response, with the remedy; "" when they may."""
    if reads.found:
        return reads.describe()
    for index, (name, value) in enumerate(drafted):
        what = ""
        if name == b"set-cookie":
            what = "a cookie"
        elif name == b"vary":
            what = "the header Vary"
        elif name == b"cache-control" and (b"private" in value or b"no-store" in value):
            what = f"Cache-Control: {value.decode('latin-1')}"
        if what and index < of_hooks:
            return not_shared(f"a route hook sets {what}", "let the hook leave the page alone")
        if what:
            return not_shared(f"its code, or a layout's, sets {what}")
    return ""


def make_keeper(site: Site) -> Keeper | None:
    """Return what keeps responses; None in development, and without a page that asks for it."""
    wanted = site.config.cache.bytes and any(plan.revalidate for plan in site.plans)
    return Keeper(site.config) if wanted and not site.development else None


class Keeper:
    """Keeps the responses of one app's pages with ``CACHE``, in this process."""

    def __init__(self, config: Config) -> None:
        self._base_url = config.base_url
        self._stale = config.cache.stale
        self._limit = config.timeouts.request + config.timeouts.render
        self._kept = KeptResponses(config.cache.bytes)
        self._flights: dict[Key, Flight] = {}
        self._refreshes = 0
        self._warned: set[str] = set()
        self.tell: Callable[..., None] | None = None
        """Called with the URLs of each `drop`, for other processes (`hearsay.py`)."""
        self._nursery: trio.Nursery | None = None
        self._context = Context()

    def __repr__(self) -> str:
        return f"<Keeper {self.statistics()}, {len(self._flights)} flights>"

    def statistics(self) -> CacheStatistics:
        """Return what is kept (counts and bytes)."""
        return self._kept.statistics()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Let flights go for as long as the block lasts; its end cancels them."""
        # Flights begin in this context: what a request has set belongs to its visitor.
        self._context = copy_context()
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            try:
                yield
            finally:
                self._nursery = None
                nursery.cancel_scope.cancel("the app shuts down")

    def look(self, page: PageVisit, form: bytes) -> Reply | None:
        """Return what is kept, fresh or stale, without waiting; None when nothing is."""
        site, visit = page.site, page.visit
        key = _key(visit, form)
        entry = self._kept.find(key)
        if not isinstance(entry, Copy):
            return None
        now = trio.current_time()
        age = now - entry.since
        if age < entry.revalidate:
            return entry.reply(site, visit, now, HIT)
        if age >= entry.revalidate + self._stale:
            return None
        if now >= entry.retry and key not in self._flights and self._refreshes < MOST_REFRESHES:
            self._start(key, page, form, background=True)
        return entry.reply(site, visit, now, STALE)

    async def join(self, page: PageVisit, form: bytes) -> Reply | None:
        """Return what is made for all who ask now; None when there is nothing for all."""
        visit = page.visit
        key = _key(visit, form)
        entry = self._kept.find(key)
        flight = self._flights.get(key)
        if flight is None:
            if isinstance(entry, Pass) and trio.current_time() < entry.until:
                visit.draft.raw_headers.append(PASS)
                return None
            flight = self._start(key, page, form, background=False)
        flight.waiting += 1
        try:
            await flight.done.wait()
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.background:
                self._forget(flight)
                flight.scope.cancel("nobody waits for it any more")
        if flight.copy is None:
            visit.draft.raw_headers.append(PASS)
            return None
        return flight.copy.reply(page.site, visit, trio.current_time(), MISS)

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
            count += self._kept.drop_page(path)
            if "[" in path:
                count += self._kept.drop_route(route)
            for flight in tuple(self._flights.values()):
                if flight.page == path or flight.route == route:
                    self._forget(flight)
        return count

    def forget_all(self) -> None:
        """Forget everything, in this process alone."""
        self._kept.clear()
        self._flights.clear()

    def _page_of(self, url: str) -> str:
        path = unquote(urlsplit(url).path)
        base = self._base_url
        if base and (path == base or path.startswith(base + "/")):
            path = path[len(base) :]
        return path.rstrip("/") or "/"

    def _start(self, key: Key, page: PageVisit, form: bytes, *, background: bool) -> Flight:
        visit, plan = page.visit, page.target.plan
        path = visit.path
        flight = Flight(
            site=page.site,
            key=key,
            page=(page_path(path) or path) if form == FORM_MARKDOWN else path,
            route=page.target.route,
            source=plan.view.module,
            revalidate=plan.revalidate or 0.0,
            began=trio.current_time(),
            background=background,
        )
        if self._nursery is None:  # the app shuts down
            flight.done.set()
            return flight
        self._flights[key] = flight
        self._refreshes += background
        scope = anonymous_scope(visit, flight, form=form, query=key[-1])
        app: ASGIApp = visit.scope["app"]
        self._context.run(self._nursery.start_soon, self._fly, flight, app, scope)
        return flight

    async def _fly(self, flight: Flight, app: ASGIApp, scope: Scope) -> None:
        """Visit the page through all of the app's middleware, as a client would."""
        failed = False
        flight.scope.deadline = flight.began + self._limit
        try:
            with flight.scope:
                await app(scope, _stay, _discard)
        except (Exception, SystemExit):  # the application's middleware
            log.exception("%s: the page could not be made to be kept", flight.source)
            failed = True
        finally:
            self._refreshes -= flight.background
            # One that was forgotten loaded what is out of date by now, or nobody wants it.
            if self._flights.get(flight.key) is flight:
                self._forget(flight)
                self._settle(flight, failed=failed or flight.scope.cancelled_caught)
            flight.done.set()

    def _settle(self, flight: Flight, *, failed: bool) -> None:
        """Keep what the flight has come to, or what was kept before."""
        kept, copy = self._kept, flight.copy
        now = trio.current_time()
        before = kept.peek(flight.key)
        failed = failed or (copy is not None and copy.status >= 500)
        if copy is not None and copy.etag and not failed:
            kept.keep(flight.key, copy)
        elif failed and isinstance(before, Copy):
            before.retry = now + min(RETRY, flight.revalidate)
        elif copy is None:
            self._warn(flight)
            until = now + flight.revalidate
            kept.keep(flight.key, Pass(flight.page, flight.route, until))
        elif not flight.degraded:
            kept.drop(flight.key)  # the page has gone

    def _warn(self, flight: Flight) -> None:
        if flight.reason and flight.source not in self._warned:
            self._warned.add(flight.source)
            log.warning("%s: CACHE has no effect: %s", flight.source, flight.reason)

    def _forget(self, flight: Flight) -> None:
        if self._flights.get(flight.key) is flight:
            del self._flights[flight.key]


def _key(visit: Visit, form: bytes) -> Key:
    """Return all that the response may depend on."""
    scope = visit.scope
    return (
        form,
        scope["scheme"].encode(),
        visit.headers.get(b"host", b"").lower(),
        raw_path(scope),
        canonical_query(scope["query_string"]),
    )


async def _stay() -> Message:
    """Receive for a client that never leaves."""
    await trio.sleep_forever()
    raise AssertionError("unreachable")


async def _discard(message: Message) -> None:
    """Send for a client that has no use for what it gets."""
