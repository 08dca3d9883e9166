"""Requests that Starlette's own code parses: in its routes, and in middleware."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import msgspec
import pytest
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from fx.testing import Client, SocketRejected, open_app
from fxtrio.application import Application
from tests.trees import page, write_tree

COOKIES = 'a="' + "\\" * 30_000 + '"'
SMALL = 'a="x\\"y"'


class ReadsCookies:
    """Middleware as applications have it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            scope["state"] = {"cookies": HTTPConnection(scope).cookies}
        await self._app(scope, receive, send)


async def form(request: Request) -> Response:
    values = await request.form()
    return JSONResponse({**{name: str(value) for name, value in values.items()}, **request.cookies})


async def whole(request: Request) -> Response:
    return JSONResponse({"size": len(await request.body())})


async def parsed(request: Request) -> Response:
    return JSONResponse({"value": await request.json()})


async def lenient(request: Request) -> Response:
    try:
        return JSONResponse({"value": await request.json()})
    except json.JSONDecodeError as error:
        return JSONResponse({"told": error.msg}, 422)


class ReadsBodies:
    """Middleware that looks into bodies, as those that sign or log requests do."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            request = Request(scope, receive)
            await (request.json() if scope["path"] == "/json" else request.form())
        await self._app(scope, receive, send)


async def socket(ws: WebSocket) -> None:
    await ws.accept()
    await ws.send_json(ws.cookies)


PAGE = """
    async def websocket(ws):
        await ws.accept()
    """


def prepare(app: Application) -> None:
    app.router.routes.append(Route("/form", form, methods=["GET", "POST"]))
    app.router.routes.append(WebSocketRoute("/socket", socket))
    app.router.routes.append(Route("/json", parsed, methods=["POST"]))
    app.router.routes.append(Route("/lenient", lenient, methods=["POST"]))
    app.router.routes.append(Route("/whole", whole, methods=["POST"]))


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    write_tree(tmp_path, {"pages/index.fxl": page(PAGE)})
    async with open_app(tmp_path, limits={"body": 1000}) as opened:
        prepare(opened.app)
        yield opened


@pytest.mark.parametrize(
    ("content_type", "body", "status"),
    [
        ("multipart/form-data; boundary=x; charset=punycode", b"--x--", 415),
        ("application/x-www-form-urlencoded; charset=utf-7", b"a=1", 415),
        ("multipart/form-data; boundary=x", b"no boundary", 400),
        ("multipart/form-data", b"", 400),
        ("application/x-www-form-urlencoded", b"&" * 2000, 413),
        ("application/x-www-form-urlencoded", b"a=%ED%A0%80", 200),
    ],
)
async def test_a_form_that_a_route_of_starlette_cannot_read_is_the_client_s_mistake(
    client: Client, content_type: str, body: bytes, status: int
) -> None:
    headers = {"content-type": content_type}
    response = await client.post("/form", content=body, headers=headers)
    assert response.status == status
    response.text.encode()


BROKEN = [b"", b"{", b"\xff", b'"\\ud800"', b"[" * 900, b"[1e999]"]


@pytest.mark.parametrize("body", BROKEN)
async def test_json_that_a_route_of_starlette_cannot_read_is_the_client_s_mistake(
    client: Client, body: bytes
) -> None:
    broken = await client.post("/json", content=body)
    assert (broken.status, broken.json()["ok"]) == (400, False)
    caught = await client.post("/lenient", content=body)
    assert caught.status == 422
    assert caught.json()["told"] == broken.json()["error"]
    assert (await client.post("/json", content=b'{"a": [1]}')).json() == {"value": {"a": [1]}}


@pytest.mark.parametrize(
    ("path", "content_type", "body", "status"),
    [
        ("/form", "application/x-www-form-urlencoded", b"a=" + b"%zz" * 100_000, 200),
        ("/json", "application/json", b"[" + b"1," * 90_000 + b"1]", 200),
        ("/json", "application/json", b"[" + b"[]," * 110_000 + b"1]", 400),
    ],
)
async def test_starlette_parses_large_bodies_beside_the_event_loop(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    content_type: str,
    body: bytes,
    status: int,
) -> None:
    threads: list[int] = []
    decode = msgspec.json.decode

    def unquoting(text: str) -> str:
        threads.append(threading.get_ident())
        return unquote_plus(text)

    def decoding(data: bytes) -> Any:
        threads.append(threading.get_ident())
        return decode(data)

    monkeypatch.setattr("starlette.formparsers.unquote_plus", unquoting)
    monkeypatch.setattr(msgspec.json, "decode", decoding)
    write_tree(tmp_path, {"pages/index.fxl": page(PAGE)})
    async with open_app(tmp_path) as client:
        prepare(client.app)
        response = await client.post(path, content=body, headers={"content-type": content_type})
    assert response.status == status
    assert threading.get_ident() not in threads
    assert bool(threads) is (status == 200)  # what is too much is not even begun


async def test_what_middleware_cannot_read_is_the_client_s_mistake(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(PAGE)})
    async with open_app(tmp_path) as client:
        app = client.app
        app.user_middleware.append(Middleware(ReadsBodies))
        app.middleware_stack = app.build_middleware_stack()
        assert (await client.post("/json", content=b"{")).status == 400
        headers = {"content-type": "multipart/form-data"}
        assert (await client.post("/form", content=b"x", headers=headers)).status == 400


async def test_a_body_above_the_limit_is_a_413_in_routes_of_starlette_too(client: Client) -> None:
    assert (await client.post("/whole", content=b"x" * 1001)).status == 413
    assert (await client.post("/whole", content=b"x" * 1000)).json() == {"size": 1000}


async def test_a_route_of_starlette_gets_no_cookies_that_take_it_long(client: Client) -> None:
    assert (await client.get("/form", headers={"cookie": COOKIES})).status == 400
    assert (await client.get("/form", headers={"cookie": SMALL})).json() == {"a": 'x"y'}


async def status_of(client: Client, headers: list[tuple[str, str]]) -> int:
    """Send a small form with header lines as they are, equal names included."""
    scope = {**client.scope("http", "/form", {}), "method": "POST"}
    scope["headers"] += [(name.encode(), value.encode()) for name, value in headers]
    statuses: list[int] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"a=1", "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await client.app(scope, receive, send)
    return statuses[0]


async def test_of_headers_that_come_twice_each_is_looked_at(client: Client) -> None:
    form = "application/x-www-form-urlencoded"
    types = [("content-type", f"{form}; charset=punycode"), ("content-type", "text/plain")]
    many = 'a="' + "\\" * 150 + '"'
    for lines in (types, types[::-1]):
        assert await status_of(client, lines) == 415
    for cookies in ([COOKIES, "b=1"], ["b=1", COOKIES], [many, many]):
        assert await status_of(client, [("cookie", line) for line in cookies]) == 400
    assert await status_of(client, [("cookie", SMALL), ("cookie", many)]) == 200


async def test_a_socket_of_starlette_gets_no_cookies_that_take_it_long(client: Client) -> None:
    with pytest.raises(SocketRejected):
        async with client.websocket("/socket", headers={"cookie": COOKIES}):
            raise AssertionError("must not open")
    async with client.websocket("/socket", headers={"cookie": SMALL}) as socket:
        assert await socket.receive_json() == {"a": 'x"y'}


async def test_middleware_gets_no_cookies_that_take_it_long(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(PAGE)})
    async with open_app(tmp_path) as client:
        app = client.app
        app.user_middleware.append(Middleware(ReadsCookies))
        app.middleware_stack = app.build_middleware_stack()
        assert (await client.get("/", headers={"cookie": COOKIES})).status == 400
        assert (await client.get("/", headers={"cookie": SMALL})).status == 200
        client.cookies.clear()  # they would go first
        with pytest.raises(SocketRejected):
            async with client.websocket("/", headers={"cookie": COOKIES}):
                raise AssertionError("must not open")
