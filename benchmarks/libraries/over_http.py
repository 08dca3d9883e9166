"""Clients of HTTP, before a server that lets them wait."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import import_module

from benchmarks.libraries.hanging import HangingServer, open_server
from benchmarks.libraries.model import Work


@asynccontextmanager
async def _over_http(
    server: HangingServer, call: Callable[[], Awaitable[object]]
) -> AsyncIterator[Work]:
    async def check() -> None:
        server.answering = True
        await call()

    async def quiet() -> bool:
        return server.connections <= 1  # what the check has kept alive

    yield Work(call, server.wait_requests, check, quiet)


@asynccontextmanager
async def any_httpx(name: str) -> AsyncIterator[Work]:
    client_of = import_module(name).AsyncClient
    async with open_server() as server, client_of(base_url=server.url) as client:
        async with _over_http(server, lambda: client.get("/")) as work:
            yield work


def _ask(create: Callable[..., Awaitable[object]]) -> Callable[[], Awaitable[object]]:
    messages = [{"role": "user", "content": "x"}]
    return lambda: create(model="m", max_tokens=9, messages=messages)


@asynccontextmanager
async def openai() -> AsyncIterator[Work]:
    client_of = import_module("openai").AsyncOpenAI
    async with (
        open_server() as server,
        client_of(api_key="x", base_url=f"{server.url}/v1", max_retries=0) as client,
        _over_http(server, _ask(client.chat.completions.create)) as work,
    ):
        yield work


@asynccontextmanager
async def anthropic() -> AsyncIterator[Work]:
    client_of = import_module("anthropic").AsyncAnthropic
    async with (
        open_server() as server,
        client_of(api_key="x", base_url=server.url, max_retries=0) as client,
        _over_http(server, _ask(client.messages.create)) as work,
    ):
        yield work
