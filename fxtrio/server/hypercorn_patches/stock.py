"""Puts our connection into Hypercorn's own trio server, for those who start that themselves."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import hypercorn.trio.run
import trio
from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, LifespanState

from fxtrio.server.http1.connection import Connection
from fxtrio.server.http1.connection_context import Services
from fxtrio.server.http1.hypercorn_adapter import hub_for, note_of, services_of
from fxtrio.server.http1.tls import Stream
from fxtrio.server.http1.worker_state import Hub
from fxtrio.server.http2.hypercorn_adapter import serve_http2


def use_in_hypercorn() -> None:
    """Have `hypercorn.trio.serve` in this process answer with our connections.

    Limits come from the config's attribute ``limits`` (a `ServerLimits`), if it has
    one. Accepting, TLS, the lifespan and the end stay Hypercorn's: it accepts without
    a limit on connections.
    """
    setattr(hypercorn.trio.run, "TCPServer", StockWorkers().connect)  # noqa: B010  # not exported


class StockWorkers:
    """Hypercorn's own workers in this process, each with its services.

    Hypercorn has no nursery to run a hub in: it runs as a system task, and ends with
    the worker.
    """

    def __init__(self) -> None:
        self._services: WeakKeyDictionary[WorkerContext, Services] = WeakKeyDictionary()

    def connect(
        self,
        app: AppWrapper,
        config: Config,
        context: WorkerContext,
        state: LifespanState,
        stream: Stream,
    ) -> Connection:
        """Stand where Hypercorn makes its `TCPServer`, which it awaits."""
        services = self._services.get(context)
        if services is None:
            hub, note = hub_for(config), note_of(config)
            services = self._services[context] = services_of(
                app, config, context, state, hub=hub, note=note, serve_http2=serve_http2
            )
            trio.lowlevel.spawn_system_task(_run_hub, hub, context)
        return Connection(services, stream)


async def _run_hub(hub: Hub, context: WorkerContext) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hub.run)
        await context.terminated.wait()
        hub.close()
