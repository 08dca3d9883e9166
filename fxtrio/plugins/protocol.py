"""The base class of plugins: a name, settings, a block, and additions to the app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import attrs
from starlette.datastructures import URLPath
from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from fxtrio.config import Config
from fxtrio.errors import DottedNameUnknown, FxtrioError, PlacedError, display_path
from fxtrio.tracebacks import first_of, frame_in_application

if TYPE_CHECKING:
    import click

    from fxtrio.app_handle import App

SettingsT = TypeVar("SettingsT")

Resolver = Callable[[str], object]
"""Resolves a dotted name of the application; raises DottedNameUnknown."""


class PluginFailed(PlacedError):
    """A plugin failed in its import, creation, `open`, run or end; see ``__cause__``."""

    def __init__(self, name: str, stage: str, error: BaseException) -> None:
        first = first_of(error)
        super().__init__(
            f"plugin {name!r}",
            f"{stage}: {type(first).__name__}: {str(first).rstrip('.')}",
            f"{_remedy(first)} the plugin from 'plugins' in fx.config.json",
        )
        self.name = name
        self.stage = stage


def _remedy(error: BaseException) -> str:
    """Return what to do about what failed in a plugin, up to the name of the plugin."""
    if isinstance(error, FxtrioError):  # whose message ends with a remedy
        return "Or remove"
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"Install {error.name!r}, or remove"
    found = frame_in_application(error)
    if found is None:
        return "Change its settings, or remove"
    code, line = found
    return f"Fix {display_path(Path(code.co_filename))}:{line}, or remove"


@attrs.frozen
class NoSettings:
    """The settings of a plugin that has none."""


class Plugin(Generic[SettingsT]):
    """The base of plugins. Every part is optional; `open` is what most have.

    A plugin is constructed before the app runs, once for each app and process, and must not
    touch anything outside until `open`.
    """

    name: ClassVar[str]
    """Its key in `App.plugins`, and in errors."""

    Settings: ClassVar[type[Any]] = NoSettings
    """An attrs class. ``settings`` in ``fx.config.json`` is checked against it, with the
    attributes' names in camelCase."""

    needs: ClassVar[tuple[str, ...]] = ()
    """Settings of the app that `open` cannot do without: attributes of `Config`, such as
    ``database.url``.

    One that is not set may well be set in the environment of the server, so `fx check` and
    `fx build` only mention it.
    """

    observed: ClassVar[bool] = False
    """Whether `fx tree` may ask the process from the first step of its start, before `open`."""

    of_setting: ClassVar[str] = ""
    """The setting that opens it, for plugins of the framework that nobody names in ``plugins``."""

    def __init__(self, settings: SettingsT, *, config: Config, root: Path) -> None:
        self.settings = settings
        self.config = config
        """The settings of the whole app."""

        self.root = root
        """The project folder."""

    @asynccontextmanager
    async def _open_nothing(self) -> AsyncIterator[None]:
        yield

    def open(self, app: App) -> AbstractAsyncContextManager[Any]:
        """Return a block that lasts as long as the app, usually by ``@asynccontextmanager``.

        What it yields is the plugin's service, at ``app.plugins[name]`` while the block
        lasts. The plugins before this one in the config are open already. A block that
        raises before it yields stops the app from starting.
        """
        return self._open_nothing()

    def isolate(self, folder: Path) -> None:
        """Store files in ``folder`` from now on, instead of where the settings say.

        `open_app` calls it before `open`, so that tests neither read nor change the project's data.
        Override it in a plugin that stores files. The folder may not exist yet.
        """

    def mistakes(self, resolve: Resolver) -> Mapping[str, str]:
        """Return the settings with which `open` would fail: each key with its error.

        `fx check` calls it after the settings have been read: for a setting that another one
        requires, or a function that cannot be imported. ``resolve`` imports what a setting names.
        """
        return {}

    def middleware(self, app: ASGIApp) -> ASGIApp:
        """Return ``app``, wrapped in the plugin's ASGI middleware if it has one."""
        return app

    def routes(self) -> Sequence[BaseRoute]:
        """Return Starlette routes, their paths without the base URL.

        They are matched before pages, and behind the app's CSRF check.
        """
        return ()

    def commands(self) -> Sequence[click.Command]:
        """Return commands for the ``fx`` command line; they run without the app."""
        return ()

    def csrf_binding(self, connection: HTTPConnection) -> str | None:
        """Return the value that CSRF tokens are bound to, such as the client's session, or None.

        Called for pages, and for requests that do not prove their origin: it must not wait.
        """
        return None


def cause_of_unresolved(name: str, resolve: Resolver) -> str | None:
    """Return why ``name`` of a setting cannot be imported; None when it can."""
    try:
        resolve(name)
    except DottedNameUnknown as error:
        return f"is {name!r}, which cannot be imported: {error.cause}"
    return None


def wrap_in_middleware(plugins: Sequence[Plugin[Any]], app: ASGIApp) -> ASGIApp:
    """Return ``app`` inside the middleware of all ``plugins``, the first one outermost."""
    for plugin in reversed(plugins):
        app = plugin.middleware(app)
    return app


def plugin_routes(plugins: Sequence[Plugin[Any]], *, base_url: str = "") -> tuple[BaseRoute, ...]:
    """Return the routes of all ``plugins`` in order, below ``base_url``."""
    routes = (route for plugin in plugins for route in plugin.routes())
    return tuple(_Below(base_url, route) if base_url else route for route in routes)


class _Below(BaseRoute):
    """A route below the base URL. Unlike a `Mount`, it matches only what the route itself does."""

    def __init__(self, base_url: str, route: BaseRoute) -> None:
        self._base_url = base_url
        self._route = route
        self.path = base_url + getattr(route, "path", "")
        """By which settings, metrics and traces name it, once the base URL is taken off."""

        self.methods = getattr(route, "methods", None)
        self.endpoint = getattr(route, "endpoint", None)
        self.acts_on_cookies = getattr(route, "acts_on_cookies", True)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Ask the route as if the app were served at the base URL."""
        inner = {"root_path": scope.get("root_path", "") + self._base_url}
        if not scope["path"].startswith(inner["root_path"] + "/"):
            return Match.NONE, {}
        match, child = self._route.matches({**scope, **inner})
        return match, {} if match is Match.NONE else {**child, **inner}

    def url_path_for(self, name: str, /, **path_params: Any) -> URLPath:
        """Return the path of the route below the base URL."""
        path = self._route.url_path_for(name, **path_params)
        return URLPath(path=self._base_url + path, protocol=path.protocol)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the route answer."""
        await self._route.handle(scope, receive, send)


def csrf_binding_of(
    plugins: Sequence[Plugin[Any]],
) -> Callable[[HTTPConnection], str | None]:
    """Return a function that asks each plugin in turn what a CSRF token is bound to."""
    having = [plugin for plugin in plugins if type(plugin).csrf_binding is not Plugin.csrf_binding]

    def bind(connection: HTTPConnection) -> str | None:
        for plugin in having:
            binding = plugin.csrf_binding(connection)
            if binding is not None:
                return binding
        return None

    return bind
