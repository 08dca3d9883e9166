"""Plugins for the tests, named in settings as an application would name its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import attrs
import click
import trio
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from fxtrio.app_handle import App
from fxtrio.plugins import Plugin


@attrs.frozen(kw_only=True)
class GreeterSettings:
    greeting: str = "Hello"
    max_length: int = attrs.field(default=10, validator=attrs.validators.ge(1))


class Greeter(Plugin[GreeterSettings]):
    """Uses every part of the protocol."""

    name = "greeter"
    Settings = GreeterSettings

    @asynccontextmanager
    async def open(self, app: App) -> AsyncIterator[Callable[[str], str]]:
        yield lambda who: f"{self.settings.greeting}, {who}"[: self.settings.max_length]

    def middleware(self, app: ASGIApp) -> ASGIApp:
        async def greet(scope: Scope, receive: Receive, send: Send) -> None:
            scope.setdefault("seen", []).append(self.name)
            await app(scope, receive, send)

        return greet

    def routes(self) -> Sequence[BaseRoute]:
        async def greet(request: Request) -> PlainTextResponse:
            return PlainTextResponse(self.settings.greeting)

        return (Route("/greet", greet),)

    def commands(self) -> Sequence[click.Command]:
        @click.command()
        def greet() -> None:
            click.echo(f"{self.settings.greeting} from {self.root.name}")

        return (greet,)

    def csrf_binding(self, connection: HTTPConnection) -> str | None:
        return connection.query_params.get("who")


class Shouter(Greeter):
    name = "shouter"


class Bare(Plugin[Any]):
    """Has nothing but its name."""

    name = "bare"


class Nameless(Plugin[Any]):
    """Forgot its name."""


class Unmakeable(Plugin[Any]):
    name = "unmakeable"

    def __init__(self, settings: Any, **rest: Any) -> None:
        raise RuntimeError("no such device")


class Collapsing(Plugin[Any]):
    """Its own task fails while the app runs."""

    name = "collapsing"

    @asynccontextmanager
    async def open(self, app: App) -> AsyncIterator[None]:
        async def work() -> None:
            await trio.sleep(5)
            raise OSError("connection lost")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(work)
            yield
            nursery.cancel_scope.cancel()


not_a_plugin = 7
