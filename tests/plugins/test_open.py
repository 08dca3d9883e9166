"""Plugins open in order, close in reverse, and are named when they fail."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
import trio
from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.routing import Match
from starlette.types import Receive, Scope, Send
from trio.testing import MockClock

from fxtrio.app_handle import App
from fxtrio.config import Config
from fxtrio.plugins import (
    NoSettings,
    Plugin,
    csrf_binding_of,
    open_plugins,
    plugin_routes,
    wrap_in_middleware,
)
from fxtrio.plugins.protocol import PluginFailed
from tests.plugins.sample import Bare, Collapsing, Greeter, GreeterSettings, Shouter


def make_app() -> App:
    nothing = cast("Any", SimpleNamespace())
    return App(config=Config(), tasks=nothing, broker=nothing, state=nothing)


def make(cls: type[Plugin[Any]], settings: Any = None) -> Plugin[Any]:
    return cls(settings or NoSettings(), config=Config(), root=Path())


def recorder(label: str, log: list[str], *, fails: str = "") -> Plugin[Any]:
    class Recorder(Plugin[Any]):
        name = label

        @asynccontextmanager
        async def open(self, app: App) -> AsyncIterator[str]:
            log.append(f"open {label} after {','.join(app.plugins)}")
            if fails == "start":
                raise OSError("no database")
            try:
                yield f"service of {label}"
            finally:
                log.append(f"close {label}")
                if fails == "stop":
                    raise OSError("disk full")

    return make(Recorder)


async def test_plugins_open_in_order_and_close_in_reverse() -> None:
    log: list[str] = []
    async with open_plugins([recorder(name, log) for name in "abc"], make_app()):
        log.append("run")
    assert log == [
        "open a after ",
        "open b after a",
        "open c after a,b",
        "run",
        "close c",
        "close b",
        "close a",
    ]


async def test_services_are_on_the_app_while_their_plugin_is_open() -> None:
    app = make_app()
    greeter = make(Greeter, GreeterSettings(greeting="Hi", max_length=6))
    async with open_plugins([greeter, make(Bare)], app):
        assert app.plugins["greeter"]("Ada Lovelace") == "Hi, Ad"
        assert app.plugins["bare"] is None
    assert app.plugins == {}


async def test_a_plugin_that_cannot_start_is_named_and_the_earlier_ones_are_closed() -> None:
    log: list[str] = []
    plugins = [recorder("a", log), recorder("mail", log, fails="start"), recorder("c", log)]
    with pytest.raises(PluginFailed, match="plugin 'mail': could not start: OSError: no") as info:
        async with open_plugins(plugins, make_app()):
            raise AssertionError("must not run")
    assert isinstance(info.value.__cause__, OSError)
    assert log == ["open a after ", "open mail after a", "close a"]


async def test_an_open_that_lacks_its_decorator_is_named_with_the_remedy() -> None:
    class WithoutYield(Plugin[Any]):
        name = "coroutine"

        async def open(self, app: App) -> None:  # type: ignore[override]
            """Lacks @asynccontextmanager."""

    class WithYield(Plugin[Any]):
        name = "generator"

        async def open(self, app: App) -> AsyncIterator[None]:  # type: ignore[override]
            yield

    for mistaken in (WithoutYield, WithYield):
        with pytest.raises(PluginFailed, match=f"'{mistaken.name}': could not start.*put @async"):
            async with open_plugins([make(mistaken)], make_app()):
                raise AssertionError("must not run")


async def test_a_plugin_that_cannot_stop_is_named_and_the_others_are_closed() -> None:
    log: list[str] = []
    plugins = [recorder("a", log), recorder("mail", log, fails="stop"), recorder("c", log)]
    with pytest.raises(PluginFailed, match="plugin 'mail': could not stop: OSError: disk full"):
        async with open_plugins(plugins, make_app()):
            pass
    assert log[-3:] == ["close c", "close mail", "close a"]


async def test_an_error_of_the_app_itself_is_not_blamed_on_a_plugin() -> None:
    log: list[str] = []
    with pytest.raises(ZeroDivisionError):
        async with open_plugins([recorder("a", log), recorder("b", log)], make_app()):
            raise ZeroDivisionError
    assert log[-2:] == ["close b", "close a"]


async def test_a_plugin_whose_own_task_fails_ends_the_app_and_is_named(
    autojump_clock: MockClock,
) -> None:
    app = make_app()
    with pytest.raises(PluginFailed, match="plugin 'collapsing': failed while it ran") as info:
        async with open_plugins([make(Collapsing)], app):
            await trio.sleep_forever()
    assert isinstance(info.value.__cause__, ExceptionGroup)
    assert trio.current_time() == 5
    assert app.plugins == {}


async def test_cancellation_closes_plugins_without_an_error() -> None:
    log: list[str] = []
    with trio.CancelScope() as scope:
        async with open_plugins([recorder("a", log), recorder("b", log)], make_app()):
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert log[-2:] == ["close b", "close a"]


async def test_the_first_plugins_middleware_is_outermost() -> None:
    seen: list[str] = []

    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        seen.extend(scope["seen"])

    plugins = [make(cls, GreeterSettings()) for cls in (Greeter, Shouter)]
    wrapped = wrap_in_middleware([*plugins, make(Bare)], endpoint)
    await wrapped({"type": "http"}, cast("Any", None), cast("Any", None))
    assert seen == ["greeter", "shouter"]


def test_routes_come_in_config_order() -> None:
    plugins = [make(cls, GreeterSettings()) for cls in (Greeter, Bare, Shouter)]
    assert [getattr(route, "path", "") for route in plugin_routes(plugins)] == ["/greet", "/greet"]


def test_below_a_base_url_routes_match_their_own_paths_and_no_others() -> None:
    (route,) = plugin_routes([make(Greeter, GreeterSettings())], base_url="/app")

    def match(path: str, root_path: str = "") -> Match:
        scope = {"type": "http", "method": "GET", "path": path, "root_path": root_path}
        return route.matches(scope)[0]

    assert match("/app/greet") is Match.FULL
    assert match("/outer/app/greet", "/outer") is Match.FULL
    for other in ("/greet", "/app/other", "/app", "/application/greet"):
        assert match(other) is Match.NONE
    assert route.url_path_for("greet") == "/app/greet"


async def test_a_route_below_a_base_url_answers() -> None:
    site = Starlette(routes=plugin_routes([make(Greeter, GreeterSettings())], base_url="/app"))
    transport = httpx.ASGITransport(app=site)
    async with httpx.AsyncClient(transport=transport, base_url="http://app.test") as client:
        assert (await client.get("/app/greet")).text == "Hello"
        assert (await client.get("/app/other")).status_code == 404
        assert (await client.get("/greet")).status_code == 404


def test_csrf_tokens_are_bound_by_the_first_plugin_that_binds() -> None:
    def connection(query: bytes) -> HTTPConnection:
        return HTTPConnection({"type": "http", "query_string": query, "headers": []})

    bind = csrf_binding_of([make(Bare), make(Greeter, GreeterSettings())])
    assert bind(connection(b"who=ada")) == "ada"
    assert bind(connection(b"")) is None
    assert csrf_binding_of([])(connection(b"who=ada")) is None
