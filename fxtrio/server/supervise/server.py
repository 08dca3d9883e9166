"""One worker: an application's lifespan around its connections.

`run_server` is its entry point, for a separate process as well as for a test.
Hypercorn provides HTTP/2 and the settings of TLS.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import trio

from fxtrio.server.http1 import Connection
from fxtrio.server.http1.connection_context import Note
from fxtrio.server.http1.hypercorn_adapter import hub_for, note_of, services_of
from fxtrio.server.http1.tls import Stream, show_address
from fxtrio.server.http1.worker_state import Hub, RequestLimit
from fxtrio.server.supervise.application.lifespan import (
    Lifespan,
    start_lifespan,
    watch_lifespan,
)
from fxtrio.server.supervise.hypercorn_config import ServerConfig
from fxtrio.server.supervise.listening.binding import Sockets
from fxtrio.server.supervise.listening.fd_limit import OpenFiles, raise_file_limit
from fxtrio.server.supervise.listening.listener import Acceptor
from fxtrio.server.supervise.listening.per_ip_limit import Addresses

Application = Callable[..., Awaitable[None]]

_LAST_CALL = 0.5
"""Seconds for which connections that wait in the kernel are still accepted at the end."""

_FAILURE_GRACE = 1.0
"""Seconds that a lifespan has to return after it said that its shutdown is complete."""

_SHORTAGE = (
    "The system allows this process %s open files, so %d connections fit, not %d. Raise the "
    "hard limit (ulimit -Hn, LimitNOFILE= of systemd), or lower limits.connections."
)


async def run_server(
    app: Application,
    config: ServerConfig,
    *,
    sockets: Sockets,
    stop: trio.Event,
    max_requests: int | None = None,
    spent: Callable[[], object] | None = None,
    task_status: trio.TaskStatus[list[str]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve ``app`` on ``sockets`` until ``stop`` is set.

    After ``max_requests``, ``spent`` is called; without it the server stops itself.

    ``sockets`` are listening already, and are closed in the end. The shutdown starts with the
    application's ``state.begin_shutdown``, if it exists. Reports the addresses once it serves.
    Raises LifespanFailed or LifespanTooSlow, and LifespanEnded if the application's lifespan
    ends before the shutdown.
    """
    state: dict[str, Any] = {}
    lifespan = Lifespan(app, config, state)
    limit = None if max_requests is None else RequestLimit(max_requests)
    hub = hub_for(config)
    http2 = _Http2(app, config, state, hub, limit)
    if sockets.secure_sockets:  # where browsers speak HTTP/2
        http2.prepare()
    async with trio.open_nursery() as lifespan_nursery:
        returned = await start_lifespan(lifespan, lifespan_nursery)
        async with trio.open_nursery() as watching:
            watching.start_soon(hub.run)
            if config.access_log is not None:
                watching.start_soon(config.access_log.run)
            if lifespan.supported:
                watching.start_soon(watch_lifespan, lifespan)
            begin = partial(_begin_shutdown, app)
            services = services_of(
                app,
                config,
                state,
                hub=hub,
                limit=limit,
                note=_note(config),
                serve_http2=http2.serve,
            )
            intake = _Intake(config, hub, limit, spent)
            serve = partial(Connection, services)
            await intake.run(serve, sockets, stop, begin, task_status)
            watching.cancel_scope.cancel()
        if lifespan.supported and not lifespan.shutdown.is_set():
            await lifespan.wait_for_shutdown()
            with trio.move_on_after(_FAILURE_GRACE):  # a failure is on its way to the nursery
                await returned.wait()
        lifespan_nursery.cancel_scope.cancel()
    config.log.close()


def _note(config: ServerConfig) -> Note | None:
    """Return the callable that logs a request: the log itself unless statsd needs it, too."""
    if config.statsd_host is not None:
        return note_of(config.log)
    return None if config.access_log is None else config.access_log.note


class _Http2:
    """Serves connections of HTTP/2. What that needs is imported for the first of them."""

    def __init__(self, app: Application, config: ServerConfig, *worker: Any) -> None:
        """``worker`` is what `http2_server` takes besides."""
        self._app = app
        self._config = config
        self._worker = worker
        self._serve: Callable[[Stream, bytes], Awaitable[None]] | None = None

    def prepare(self) -> Callable[[Stream, bytes], Awaitable[None]]:
        """Import it now."""
        if self._serve is None:
            # Heavy, and else seldom needed: it takes as long as a fifth of a start.
            from fxtrio.server.http2.hypercorn_adapter import http2_server
            from fxtrio.server.hypercorn_patches import install_guard

            install_guard()  # Hypercorn's streams and its writing are used
            config = self._config.for_hypercorn()
            self._serve = http2_server(self._app, config, *self._worker)
        return self._serve

    async def serve(self, stream: Stream, read: bytes) -> None:
        """Serve a connection, of which ``read`` was read already, and close it."""
        await self.prepare()(stream, read)


class _Intake:
    """Accepts connections until stopped, then waits for them to end."""

    def __init__(
        self,
        config: ServerConfig,
        hub: Hub,
        limit: RequestLimit | None,
        spent: Callable[[], object] | None,
    ) -> None:
        self._spent = spent
        self._config = config
        self._hub = hub
        self._limit = limit

    async def run(
        self,
        serve: Callable[[Stream], Awaitable[None]],
        sockets: Sockets,
        stop: trio.Event,
        begin: Callable[[], object],
        task_status: trio.TaskStatus[list[str]],
    ) -> None:
        """Serve every connection with ``serve``; return once all of them have ended."""
        config = self._config
        addresses = Addresses(config.limits.connections_per_address, config.proxies)
        wanted = config.limits.connections
        files = OpenFiles(raise_file_limit(wanted))
        room = files.room(0)
        if room < wanted:
            await config.log.warning(_SHORTAGE, files.granted, max(room, 0), wanted)
        acceptor = Acceptor(addresses, wanted, files, serve)
        tls = config.create_ssl_context()
        urls = []
        async with trio.open_nursery() as connections:
            async with trio.open_nursery() as accepting:
                for listening in sockets.secure_sockets:
                    accepting.start_soon(acceptor.run, listening, tls, connections)
                    urls.append(_url("https", listening))
                for listening in sockets.insecure_sockets:
                    accepting.start_soon(acceptor.run, listening, None, connections)
                    urls.append(_url("http", listening))
                for url in urls:
                    await config.log.info("Running on %s", url)
                task_status.started(urls)
                await self._wait_for_end(stop)
                begin()
                await _accept_the_rest(sockets)
                accepting.cancel_scope.cancel()
            self._hub.close()
            graceful = config.graceful_timeout
            connections.cancel_scope.deadline = trio.current_time() + graceful
            for listening in (*sockets.secure_sockets, *sockets.insecure_sockets):
                listening.close()
        if connections.cancel_scope.cancelled_caught:
            await config.log.warning("connections were cut off after %s s", graceful)

    async def _wait_for_end(self, stop: trio.Event) -> None:
        async def wait() -> None:
            await stop.wait()
            nursery.cancel_scope.cancel()

        if self._limit is None:
            await stop.wait()
            return
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await self._limit.reached.wait()
            if self._spent is None:
                nursery.cancel_scope.cancel()
            else:
                self._spent()


def _url(scheme: str, listening: socket.socket) -> str:
    address = listening.getsockname()
    if listening.family == socket.AF_UNIX:
        return f"{scheme}://unix:{address}"
    return f"{scheme}://{show_address(address[:2])}"


async def _accept_the_rest(sockets: Sockets) -> None:
    """Give the accepting tasks time for clients that have already connected."""
    poll = select.poll()
    for listening in (*sockets.secure_sockets, *sockets.insecure_sockets):
        poll.register(listening, select.POLLIN)
    with trio.move_on_after(_LAST_CALL):
        while poll.poll(0):  # noqa: ASYNC110  # the kernel reports new clients, not that none is left
            await trio.sleep(0.001)


def _begin_shutdown(app: Any) -> None:
    """Notify the application first, so that its readiness check fails from now on."""
    begin = getattr(getattr(app, "state", None), "begin_shutdown", None)
    if begin is not None:
        begin()
