"""The app of one project: a Starlette app with pages, and the lifespan that they need.

The lifespan opens every long-lived block in order, and closes them in reverse.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import trio
from msgspec.structs import asdict, replace
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from fxtrio.app_handle import App
from fxtrio.asgi_entry import Entrance, compression_of, prepare_server, reject_start
from fxtrio.asgi_extensions import offer_without_frame
from fxtrio.asyncio_portal import open_portal
from fxtrio.compression.precompressed import Compressed, find_assets, find_public
from fxtrio.errors import PlacedError
from fxtrio.imports import resolve
from fxtrio.log_limit import open_log_limit
from fxtrio.observe.open import open_observability
from fxtrio.plugins.open import open_plugins
from fxtrio.plugins.protocol import Plugin, plugin_routes, wrap_in_middleware
from fxtrio.policy.open import open_counting
from fxtrio.realtime.open import open_broker
from fxtrio.serve.app_state import Entered, Lifetime
from fxtrio.serve.cache.invalidation import open_response_cache
from fxtrio.serve.cache.response_cache import ResponseCache, make_response_cache
from fxtrio.serve.cache.static_pages import open_static_pages
from fxtrio.serve.cache.stored_renderer import StoredRenderer
from fxtrio.serve.csp_report import CspReports
from fxtrio.serve.dispatch import Dispatcher
from fxtrio.serve.event_streams.open_streams import OpenStreams
from fxtrio.serve.middleware import ErrorResponses, make_around
from fxtrio.serve.mounts import Mounts
from fxtrio.serve.openapi.answer import FILE_NAME as OPENAPI_FILE
from fxtrio.serve.openapi.answer import DocumentFile, OpenApiSource
from fxtrio.serve.pages.resources import Renderer, Running
from fxtrio.serve.pages.site import Site
from fxtrio.serve.readiness import open_readiness
from fxtrio.serve.replaceable_dispatcher import Replaceable
from fxtrio.serve.request.bodies.spool import Bodies
from fxtrio.serve.request.hook_evaluations import Evaluations
from fxtrio.serve.request.hooks import hooks_of
from fxtrio.serve.request.response.background import open_background
from fxtrio.serve.request.response.payload_media_type import OnlyPayloads
from fxtrio.serve.request.response.translated import translate_of
from fxtrio.serve.request.watchdog import open_watchdog
from fxtrio.serve.static_files import Folder
from fxtrio.spans import Spans
from fxtrio.ssr.pool import SsrPool
from fxtrio.tasks import open_task_queue
from fxtrio.tasks.calls import name_of

if TYPE_CHECKING:
    from fxtrio.db import Database
    from fxtrio.jobs import JobRunner
    from fxtrio.jobs.running.job_clock import JobClock


class TrioMissing(PlacedError):
    """The app is served on another event loop than Trio's."""

    remedy = "Use 'fx serve', or 'hypercorn --worker-class trio app:app'"

    def __init__(self) -> None:
        super().__init__("fxtrio", "the server does not run on trio")


class Application(Starlette):
    """The app of one project: a Starlette app whose pages come before its own routes' 404.

    ``app.state.fx`` (the running `App`), ``fx_tasks`` and ``fx_broker`` exist while
    the lifespan runs. Routes and middleware can be added as to any Starlette app.
    """

    def __init__(
        self,
        site: Site,
        *,
        root: Path,
        build: Path,
        plugins: tuple[Plugin[Any], ...],
        open_renderer: Callable[[], AbstractAsyncContextManager[Renderer]],
    ) -> None:
        self.site = site
        self.lifetime = Lifetime()
        """Whether the app runs, and with what; `_run` alone changes it."""
        self._root = root
        self._build = build
        self.plugins = plugins
        """In the order of the settings. They are open while the lifespan runs."""
        self._open_renderer = open_renderer
        self.spans = Spans()
        """Who learns what requests and jobs consist of."""
        self.openapi: OpenApiSource = DocumentFile(build / OPENAPI_FILE)
        """The description behind `/openapi.json`, where the settings enable it."""
        self.job_clock: JobClock | None = None
        """What jobs go by; None for a clock that follows the database. `open_app` sets it."""
        self.sends_stored = not site.development
        """Whether pages that the build has rendered are sent as they are; an export sends none."""
        self._replaceable: Replaceable | None = None
        super().__init__(lifespan=Application._run)
        self.state.begin_shutdown = self.begin_shutdown  # where `fx serve` looks for it
        self.router.routes.extend(plugin_routes(plugins, base_url=site.config.base_url))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection, or run the lifespan, which fails if middleware cannot be created.

        To servers an app that merely raises is one without a lifespan, which they serve.
        """
        await self.serve_without_frame(scope, receive, send)

    # Servers of ours call it in place of the app (`fxtrio.asgi_extensions.without_frame`).
    def serve_without_frame(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve as `__call__` does, without a frame that each request would pay for."""
        scope["app"] = self
        if self.middleware_stack is None:
            return self._build_and_serve(scope, receive, send)
        return self.middleware_stack(scope, receive, send)

    async def _build_and_serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self.middleware_stack = self.build_middleware_stack()
        except Exception as error:  # application code
            if scope["type"] != "lifespan":
                raise
            await reject_start(error, scope, receive, send)
        else:
            await self.middleware_stack(scope, receive, send)

    def build_middleware_stack(self) -> ASGIApp:
        """Put the dispatcher inside the application's, the config's and the plugins' middleware."""
        self.site = replace(self.site, hooks=hooks_of(self.site.config, resolve))
        dispatcher = self._make_dispatcher(self.site)
        inner: ASGIApp = dispatcher
        if self.site.development:
            inner = self._replaceable = Replaceable(dispatcher)
        app = inner
        for name in reversed(self.site.config.middleware):
            app = make_around(app, resolve(name), name, self._root)
        app = wrap_in_middleware(self.plugins, app)
        for cls, args, kwargs in reversed(self.user_middleware):
            app = make_around(app, partial(cls, *args, **kwargs), name_of(cls), self._root)
        # Not in development: its server adds to pages, and there is no way to shorten.
        compression = None if self.site.development else compression_of(self.site.config)
        if app is not inner:  # without middleware the dispatcher comes first
            failing = ErrorResponses(OnlyPayloads(app), self.site.config.base_url)
            app = Entered(failing, self.lifetime)
        entrance = Entrance(app, self.router, compression, self.spans, self.site.config.base_url)
        return entrance.__call__  # bound: that is called in less time than an object

    def replace_site(self, site: Site, sockets: Collection[str], streams: Collection[str]) -> None:
        """Answer the next requests with ``site``; those under way end with the one before.

        For development: middleware, plugins and what the lifespan has opened stay, and so do
        the settings. ``sockets`` are the files whose WebSockets are handled in another way now, and
        ``streams`` those whose streams are.
        """
        self.site = site
        if self.lifetime.running is not None:
            self.lifetime.running.streams.restart(streams)
        if self._replaceable is not None:
            self._replaceable.replace(self._make_dispatcher(site), sockets)

    def _make_dispatcher(self, site: Site) -> ASGIApp:
        listed = not site.development  # in development files come and go
        client = self._build / site.manifest.assets.client
        public = self._root / site.config.public_dir
        of_client: Compressed = {}
        of_public: Compressed = {}
        if listed and site.config.compression != "off":
            of_client, of_public = find_assets(client), find_public(self._build, public)
        dispatcher = partial(
            Dispatcher,
            lifetime=self.lifetime,
            assets=Folder(client, immutable=True, listed=listed, compressed=of_client),
            public=Folder(
                public,
                immutable=False,
                listed=listed,
                compressed=of_public,
                cache_of=None if site.policies is None else site.policies.cache_of,
            ),
            openapi=self.openapi if site.config.is_described else None,
            routes=self.router.routes,
            csp_reports=CspReports(),  # what they bound is bounded for all mounts together
            evaluations=Evaluations(),
        )
        return Mounts(site, dispatcher)

    @asynccontextmanager
    async def _run(self) -> AsyncIterator[None]:
        """Open everything the app needs; what was opened last is closed first."""
        if not trio.lowlevel.in_trio_run():
            raise TrioMissing
        site, config, state = self.site, self.site.config, self.state
        async with AsyncExitStack() as stack:
            enter = stack.enter_async_context
            if not site.development:  # there every line belongs to a look of the developer
                await enter(open_log_limit())
            await enter(self._open_observability())
            portal = await enter(open_portal())  # outlives whatever may call into it
            renderer = await enter(self._open_renderer())
            database = await enter(self._open_database())
            state.fx_broker = await enter(open_broker(config.realtime, name=config.name))
            state.fx_tasks = await enter(open_task_queue(**asdict(config.tasks)))
            cache = make_response_cache(site)
            streams = OpenStreams(config.limits.streams)
            jobs = self._make_job_runner(database)
            state.fx = app = App(
                config=config,
                tasks=state.fx_tasks,
                broker=state.fx_broker,
                state=state,
                cache=cache,
                database=database,
                jobs=jobs,
                portal=portal,
                resolve=resolve,
                translate=translate_of(config.translate, resolve),
                root=self._root,
                spans=self.spans,
                build_id=site.manifest.build_id,
                statistics=_statistics_of(renderer, cache, streams),
            )
            await enter(open_plugins(self.plugins, app))
            background = await enter(open_background(capacity=config.tasks.capacity))
            watchdog = await enter(open_watchdog())
            if cache is not None:
                await enter(open_response_cache(cache, config, state.fx_broker))
            count = await enter(open_counting(config))
            if jobs is not None:
                from fxtrio.jobs import open_jobs  # heavy: see `_make_job_runner`

                await enter(open_jobs(jobs, app))
            bodies = Bodies(config.limits.all_bodies)
            readiness = await enter(open_readiness(app, renderer))
            running = Running(
                app, watchdog, background, renderer, bodies, streams, readiness, count, app.meter
            )
            static = None
            if self.sends_stored:
                alone = isinstance(renderer, StoredRenderer)
                static = open_static_pages(self._build, site.manifest.build_id, config, alone=alone)
            with self.lifetime.serving(running, cache, static):
                try:
                    yield
                finally:
                    self.lifetime.ready = False
                    # Plugins and the pool outlive the work that may use them.
                    await self._drain(state.fx_tasks, background, *([jobs] if jobs else []))

    async def _drain(self, *works: Drained) -> None:
        limit = self.site.config.tasks.drain_timeout
        async with trio.open_nursery() as nursery:
            for work in works:
                nursery.start_soon(work.drain, limit)

    def _open_database(self) -> AbstractAsyncContextManager[Database | None]:
        """Open the database of the settings; None without one."""
        settings = self.site.config.database
        if not settings.url:
            return nullcontext()
        # Heavy, and needless for an app without a database.
        from fxtrio.db.migrations.runner import open_app_database

        return open_app_database(settings, self._root, development=self.site.development)

    def _make_job_runner(self, database: Database | None) -> JobRunner | None:
        """Return what runs the jobs of the project; None without jobs or a database."""
        if database is None:
            return None
        # Heavy, and needless for an app without a database.
        from fxtrio.jobs.discovery import make_job_runner

        return make_job_runner(self.site.config.jobs, self._root, database, self.job_clock)

    def _open_observability(self) -> AbstractAsyncContextManager[None]:
        config = self.site.config
        return open_observability(
            config.observability,
            self.spans,
            name=config.name or self._root.name,
            development=self.site.development,
            observed=any(plugin.observed for plugin in self.plugins),
        )

    @asynccontextmanager
    async def open_mounted(self) -> AsyncIterator[None]:
        """Run the app for the length of the block, below another ASGI app.

        For that app's lifespan: a `Mount` of Starlette gives requests on, and no lifespan.
        """
        prepare_server()
        async with self.router.lifespan_context(self):
            yield

    def begin_shutdown(self) -> None:
        """Let `/readyz` answer 503 from now on, and streams end.

        `@stream`s end at once, and streamed actions after `tasks.drainTimeout`.

        The server calls it before it stops intake.
        """
        self.lifetime.ready = False
        if self.lifetime.running is not None:
            self.lifetime.running.streams.close(grace=self.site.config.tasks.drain_timeout)


offer_without_frame(Application.__call__, Application.serve_without_frame)


def _statistics_of(
    renderer: Renderer, cache: ResponseCache | None, streams: OpenStreams
) -> dict[str, Callable[[], Any]]:
    """Return the statistics of parts that the app knows by no name of their own."""
    found: dict[str, Callable[[], Any]] = {"streams": streams.__len__}
    if isinstance(renderer, SsrPool):
        found["renderer"] = renderer.statistics
    if cache is not None:
        found["cache"] = cache.statistics
    return found


class Drained(Protocol):
    """Work that ends before what it uses is closed."""

    async def drain(self, timeout: float) -> None:
        """Take no more of it, and wait for the rest, ``timeout`` seconds at most."""
