"""What an application receives, and what its mistakes cost: one connection at most."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import pytest

from fxtrio.server.http1.response import BadResponse

from .support import echo, open_server, response

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"type": "http.response.start", "status": 200}],
        [{"type": "http.response.body", "body": b"x"}],
        [{"type": "http.response.start", "status": 200}] * 2,
        [{"type": "http.response.start", "status": 100}],
        [{"type": "unheard"}],
        [
            {"type": "http.response.start", "status": 200, "headers": [(b"a b", b"c")]},
            {"type": "http.response.body"},
        ],
        [
            {"type": "http.response.start", "status": 200, "headers": [(b"a", b"b\r\nc: d")]},
            {"type": "http.response.body"},
        ],
        [
            {"type": "http.response.start", "status": 200, "headers": [(b"a", b"b\nc: d")]},
            {"type": "http.response.body"},
        ],
        [
            {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"x")]},
            {"type": "http.response.body"},
        ],
    ],
)
async def test_an_application_that_does_not_answer_rightly_is_a_500(messages: list[Any]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        for message in messages:
            await send(message)

    async with open_server(app) as server, await server.connect() as client:
        await client.send(GET)
        reply = await client.reply()
        assert reply.status == 500
        assert await client.is_closed()
        for record in server.log.take(30):
            assert record.exc_info is not None and record.exc_info[0] is BadResponse


@pytest.mark.parametrize(
    "error", [LookupError("x"), SystemExit(3), ExceptionGroup("x", [OSError()])]
)
async def test_an_application_that_raises_costs_one_connection(error: BaseException) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/bad":
            raise error
        await response(200, b"fine")(scope, receive, send)

    async with open_server(app) as server:
        async with await server.connect() as client:
            await client.send(b"GET /bad HTTP/1.1\r\nHost: a\r\n\r\n")
            assert (await client.reply()).status == 500
        async with await server.connect() as client:
            await client.send(GET)
            assert (await client.reply()).body == b"fine"
        (record,) = server.log.take(30)
        assert record.exc_info is not None and record.exc_info[1] is error
        assert record.getMessage() == "GET /bad: the application failed"


@pytest.mark.parametrize(
    ("length", "part"),
    [(b"3", b"ab"), (b"1", b"ab"), (None, b"ab")],
    ids=["short", "long", "raise"],
)
async def test_a_broken_answer_is_cut_off_so_that_the_client_can_notice(
    length: bytes | None, part: bytes
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [] if length is None else [(b"content-length", length)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        await send({"type": "http.response.body", "body": part, "more_body": length is None})
        raise LookupError

    async with open_server(app) as server:
        answer = await server.ask(GET)
        assert not answer.endswith((b"0\r\n\r\n", b"\r\n\r\nabc"))
        assert server.log.take(30)


async def test_context_variables_end_with_their_request() -> None:
    user: ContextVar[str] = ContextVar("user", default="nobody")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await response(200, user.get().encode())(scope, receive, send)
        user.set("somebody")

    async with open_server(app) as server, await server.connect() as client:
        await client.send(GET + GET)
        assert [(await client.reply()).body for _ in range(2)] == [b"nobody", b"nobody"]
        await client.send(GET)
        assert (await client.reply()).body == b"nobody"


async def test_the_scope_describes_the_request() -> None:
    scopes: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)
        await response()(scope, receive, send)

    async with open_server(app, root_path="/root") as server:
        await server.ask(
            b"PUT /a%2Fb/%C3%A4?c=%20d HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nx-a: 2\r\n"
            b"Connection: close\r\n\r\n"
        )
    (scope,) = scopes
    assert (scope["type"], scope["method"], scope["http_version"]) == ("http", "PUT", "1.1")
    assert (scope["path"], scope["raw_path"]) == ("/a/b/ä", b"/a%2Fb/%C3%A4")
    assert (scope["query_string"], scope["root_path"]) == (b"c=%20d", "/root")
    assert [value for name, value in scope["headers"] if name == b"x-a"] == [b"1", b"2"]
    assert (scope["scheme"], scope["client"][0]) == ("http", "127.0.0.1")
    assert scope["asgi"]["version"] == "3.0"


async def test_what_the_lifespan_left_in_the_state_reaches_every_request() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await receive()
            scope["state"]["name"] = "shared"
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        body = scope["state"]["name"].encode()
        scope["state"]["name"] = "changed"
        await response(200, body)(scope, receive, send)

    async with open_server(app, lifespan=True) as server, await server.connect() as client:
        await client.send(GET + GET)
        assert [(await client.reply()).body for _ in range(2)] == [b"shared", b"shared"]


async def test_only_our_names_are_served() -> None:
    async with open_server(echo, server_names=("ours",)) as server:
        answer = await server.ask(b"GET / HTTP/1.1\r\nHost: ours\r\nConnection: close\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200")
        assert (await server.ask(GET)).startswith(b"HTTP/1.1 404")
