"""ASGI 3.0 as its specification has it: scopes, and the messages of requests."""

from __future__ import annotations

from typing import Any

import trio

from .frames import upgrade
from .rules import get, post
from .support import PATIENCE, open_server


def check_types(value: object) -> None:
    """Check that messages and scopes hold nothing but what ASGI allows in them."""
    if isinstance(value, dict):
        assert all(isinstance(key, str) for key in value)
        for inner in value.values():
            check_types(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            check_types(inner)
    else:
        assert value is None or callable(value) or type(value) in (bytes, str, int, float, bool)


async def scope_of(sent: bytes, **options: Any) -> Any:
    scopes: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)
        message = await receive()
        check_types(message)

    async with open_server(app, **options) as server:
        await server.ask(sent)
    (scope,) = scopes
    check_types(scope)
    return scope


COMMON = {"type", "asgi", "http_version", "scheme", "path", "raw_path", "query_string"} | {
    *("root_path", "headers", "client", "server", "state", "extensions")
}


async def test_the_scope_of_a_request_has_what_the_specification_lists() -> None:
    scope = await scope_of(
        b"DELETE /a%2Fb/%F0%9F%8E%88%ff?c=%20&d HTTP/1.1\r\nHost: h:1\r\nX-Case: Kept \r\n"
        b"Cookie: a=b\r\nCookie: c=d\r\nX-Obs: \xff\r\n\r\n",
        root_path="/root",
    )
    assert set(scope) == COMMON | {"method"}
    assert (scope["type"], scope["method"], scope["scheme"]) == ("http", "DELETE", "http")
    assert scope["http_version"] == "1.1"
    assert scope["asgi"]["version"] == "3.0"
    assert scope["asgi"]["spec_version"] in ("2.3", "2.4", "2.5")
    assert scope["path"] == "/a/b/🎈\ufffd"
    assert scope["raw_path"] == b"/a%2Fb/%F0%9F%8E%88%ff"
    assert scope["query_string"] == b"c=%20&d"
    assert scope["root_path"] == "/root"
    assert [tuple(header) for header in scope["headers"]] == [
        *((b"host", b"h:1"), (b"x-case", b"Kept"), (b"cookie", b"a=b"), (b"cookie", b"c=d")),
        (b"x-obs", b"\xff"),
    ]
    for name in ("client", "server"):
        address, port = scope[name]
        assert address == "127.0.0.1" and 0 < port < 65536
    assert isinstance(scope["state"], dict)


async def test_the_scope_of_an_old_request_says_so() -> None:
    scope = await scope_of(b"GET / HTTP/1.0\r\n\r\n")
    assert (scope["http_version"], scope["headers"]) == ("1.0", [])


async def test_the_scope_of_a_websocket_has_what_the_specification_lists() -> None:
    scope = await scope_of(
        upgrade(b"/a%20b?c", b"Sec-WebSocket-Protocol: one , two,, three", b"Origin: http://o")
    )
    assert set(scope) == COMMON | {"subprotocols"}
    assert (scope["type"], scope["scheme"], scope["path"]) == ("websocket", "ws", "/a b")
    assert (scope["raw_path"], scope["query_string"]) == (b"/a%20b", b"c")
    assert scope["subprotocols"] == ["one", "two", "three"]
    assert scope["extensions"]["websocket.http.response"] == {}
    assert (b"origin", b"http://o") in [tuple(header) for header in scope["headers"]]


async def test_the_messages_of_a_request_have_all_their_keys() -> None:
    messages: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        for _ in range(3):
            messages.append(await receive())

    async with open_server(app) as server:
        await server.ask(post(b"abc", b"Content-Length: 3"))
    assert messages == [
        {"type": "http.request", "body": b"abc", "more_body": False},
        {"type": "http.disconnect"},
        {"type": "http.disconnect"},
    ]


async def test_a_body_comes_in_parts_and_once() -> None:
    parts: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while True:
            parts.append(await receive())
            if not parts[-1]["more_body"]:
                break
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body"})
        parts.append(await receive())

    sent = b"x" * 300_000
    async with open_server(app) as server, await server.connect() as client:
        await client.send(post(sent, b"Content-Length: 300000"))
        assert (await client.reply()).status == 200
    assert b"".join(part.get("body", b"") for part in parts) == sent
    assert all(type(part["body"]) is bytes for part in parts[:-1])
    assert [part["more_body"] for part in parts[:-1]] == [True] * (len(parts) - 2) + [False]
    assert parts[-1] == {"type": "http.disconnect"}


async def test_answers_may_begin_before_the_body_has_come() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"first ", "more_body": True})
        message = await receive()
        await send({"type": "http.response.body", "body": message["body"]})

    async with open_server(app) as server, await server.connect() as client:
        await client.send(post(b"", b"Content-Length: 4"))
        with trio.fail_after(PATIENCE):
            while b"first" not in client.buffer:
                await client.more()
        await client.send(b"last")
        assert (await client.reply()).body == b"first last"


async def test_every_part_is_out_when_send_returns() -> None:
    go = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"one", "more_body": True})
        await go.wait()
        await send({"type": "http.response.body", "body": b"two"})

    async with open_server(app) as server, await server.connect() as client:
        await client.send(get())
        with trio.fail_after(PATIENCE):
            while b"one" not in client.buffer:
                await client.more()
        go.set()
        assert (await client.reply()).body == b"onetwo"
