"""The running app: the handle that the lifespan makes once everything it names is open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import trio
from starlette.datastructures import State
from starlette.types import Scope

from fxtrio.asyncio_portal import AsyncioPortal
from fxtrio.cache import Cache
from fxtrio.config import Config
from fxtrio.context import current_app
from fxtrio.errors import PlacedError
from fxtrio.realtime import Authenticator, Broker
from fxtrio.spans import Spans
from fxtrio.tasks import TaskQueue

if TYPE_CHECKING:
    from fxtrio.db import Database
    from fxtrio.jobs import JobRunner


class AuthenticatorTaken(PlacedError):
    """Two plugins want to say who connections belong to."""

    remedy = "Remove one of them from 'plugins'"

    def __init__(self, registered: object, other: object) -> None:
        both = f"{type(other).__qualname__} and {type(registered).__qualname__}"
        super().__init__("plugins", f"{both} both authenticate visitors")


class RequestMeter(Protocol):
    """Counts requests and WebSockets. Its methods are on the way of each: they never wait."""

    def begin(self, scope: Scope) -> Any:
        """Count one that begins, in the context in which it is served; return what `end` needs."""
        ...

    def end(self, scope: Scope, status: int, begun: Any) -> None:
        """Count its end. ``status`` is that of the response that was begun, 0 without one."""
        ...


def _loop_here() -> trio.lowlevel.TrioToken | None:
    return trio.lowlevel.current_trio_token() if trio.lowlevel.in_trio_run() else None


@attrs.frozen(kw_only=True, eq=False)
class App:
    """A running app. Valid until the lifespan that created it ends."""

    config: Config
    """The settings the app was started with."""

    tasks: TaskQueue
    """Background jobs, also at ``app.state.fx_tasks``."""

    broker: Broker
    """The default broker of channels, also at ``app.state.fx_broker``."""

    state: State
    """``app.state`` of the ASGI application."""

    cache: Cache | None = None
    """Stored responses of pages with ``CACHE``; None in development."""

    database: Database | None = None
    """What `fx.db` speaks to; None where the settings name no database."""

    jobs: JobRunner | None = None
    """Runs durable jobs; None without a database, or without jobs."""

    portal: AsyncioPortal | None = None
    """The asyncio loop for libraries that know no other; see `fx.asyncio`."""

    plugins: dict[str, Any] = attrs.field(factory=dict)
    """What each open plugin yielded, by plugin name, in the order they opened.

    The lifespan adds to it, so a plugin sees the ones opened before it.
    """

    spans: Spans = attrs.field(factory=Spans)
    """Who learns what requests and jobs consist of; a plugin may add a listener."""

    loop: trio.lowlevel.TrioToken | None = attrs.field(init=False, factory=_loop_here)
    """The event loop that the app runs on, by which threads of any kind may call into it:
    ``trio.from_thread.run(publish, "news", {}, trio_token=app.loop)``."""

    resolve: Callable[[str], Any] | None = None
    """Returns what a dotted name in the settings stands for, ``module:attribute``."""

    translate: Callable[[Any, str], object] | None = None
    """The function that `translate` of the settings names."""

    root: Path | None = None
    """The project folder."""

    build_id: str = ""
    """Which build runs."""

    statistics: Mapping[str, Callable[[], Any]] = attrs.field(factory=dict)
    """Statistics of parts that have no other name here: ``cache``, ``renderer``, ``streams``."""

    _authenticators: list[Authenticator] = attrs.field(init=False, factory=list)
    _meters: list[RequestMeter] = attrs.field(init=False, factory=list)

    @property
    def meter(self) -> RequestMeter | None:
        """What counts requests, if anything does. The runtime asks when all plugins are open."""
        return self._meters[-1] if self._meters else None

    @contextmanager
    def metered_by(self, meter: RequestMeter) -> Iterator[None]:
        """Let ``meter`` count requests for as long as the block lasts. A plugin calls it."""
        self._meters.append(meter)
        try:
            yield
        finally:
            self._meters.remove(meter)

    @property
    def authenticator(self) -> Authenticator | None:
        """Who knows the users of connections; None without such a plugin."""
        return self._authenticators[-1] if self._authenticators else None

    @contextmanager
    def authenticated_by(self, service: Authenticator) -> Iterator[None]:
        """Let ``service`` say who connections belong to, for as long as the block lasts.

        A plugin calls it in its `open`. Raises AuthenticatorTaken when another one has.
        """
        if self._authenticators:
            raise AuthenticatorTaken(self._authenticators[-1], service)
        self._authenticators.append(service)
        try:
            yield
        finally:
            self._authenticators.remove(service)


def get_app() -> App | None:
    """Return the app the running code belongs to, or None outside a running app.

    Code that was begun by no app, such as a thread of `threading`, belongs to the app of
    its process, as long as that runs only one.
    """
    app = current_app()
    return app if isinstance(app, App) else None
