"""Clients that leave, and tasks and bytes that they leave behind."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import trio

from fxtrio.errors import ClientDisconnected
from fxtrio.server.http1 import Connection

from . import websocket_apps
from .frames import CLOSE, TEXT, close_frame, frame, upgrade
from .support import App, echo, open_server, read_body, response

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


async def test_a_waiting_application_hears_that_its_client_left() -> None:
    heard = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert await read_body(receive) == b""
        assert (await receive())["type"] == "http.disconnect"
        assert (await receive())["type"] == "http.disconnect"
        heard.set()

    async with open_server(app) as server:
        async with await server.connect() as client:
            await client.send(GET)
            await trio.testing.wait_all_tasks_blocked(0.01)
        with trio.fail_after(5):
            await heard.wait()


async def test_a_client_that_sent_much_more_than_it_was_answered_may_leave_too() -> None:
    heard = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        assert (await receive())["type"] == "http.disconnect"
        heard.set()

    async with open_server(app) as server:
        async with await server.connect() as client:
            await client.send(GET * 6_000)  # more than is read ahead, less than the kernel keeps
            await trio.sleep(0.1)
            assert not heard.is_set()
        with trio.fail_after(5):
            await heard.wait()


async def test_a_client_that_leaves_in_the_middle_of_its_body_is_a_disconnect() -> None:
    heard = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            await read_body(receive)
        except ConnectionError:
            heard.set()
            raise

    async with open_server(app) as server:
        async with await server.connect() as client:
            await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
        with trio.fail_after(5):
            await heard.wait()


async def test_is_disconnected_turns_true_without_waiting() -> None:
    from starlette.requests import Request

    answers = []
    left = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        await request.body()
        answers.append(await request.is_disconnected())
        await left.wait()
        while not await request.is_disconnected():  # noqa: ASYNC110  # it is what is tested
            await trio.sleep(0.001)
        answers.append(True)

    async with open_server(app) as server:
        async with await server.connect() as client:
            await client.send(GET)
            await trio.testing.wait_all_tasks_blocked(0.01)
        left.set()
    assert answers == [False, True]


async def test_a_loop_that_only_sends_ends_when_the_client_has_left() -> None:
    ended = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})
        try:
            while True:
                await send({"type": "http.response.body", "body": b"tick", "more_body": True})
        except ClientDisconnected:
            ended.set()
            raise

    async with open_server(app) as server:
        async with await server.connect() as client:
            await client.send(GET)
            await client.more()
        with trio.fail_after(5):
            await ended.wait()


async def test_an_application_may_finish_quietly_after_its_client_left() -> None:
    finished = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        assert (await receive())["type"] == "http.disconnect"
        await response(200, b"x" * 1_000_000)(scope, receive, send)
        finished.set()

    async with open_server(app) as server:
        async with await server.connect() as client:
            await client.send(GET)
            await trio.testing.wait_all_tasks_blocked(0.01)
        with trio.fail_after(5):
            await finished.wait()


async def test_requests_that_arrive_while_the_application_receives_are_queued() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read_body(receive)
        with trio.move_on_after(0.05):
            await receive()
        await echo_path(scope, send)

    async def echo_path(scope: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": scope["path"].encode()})

    async with open_server(app) as server, await server.connect() as client:
        await client.send(b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
        await client.send(b"GET /2 HTTP/1.1\r\nHo")
        await trio.sleep(0.01)
        await client.send(b"st: a\r\n\r\n")
        assert [(await client.reply()).body for _ in range(2)] == [b"/1", b"/2"]


async def test_a_task_left_behind_cannot_steal_the_next_request() -> None:
    async with trio.open_nursery() as nursery:
        messages = []

        async def linger(receive: Any) -> None:
            messages.append(await receive())

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await read_body(receive)
            nursery.start_soon(linger, receive)
            await trio.testing.wait_all_tasks_blocked()
            await response(200, b"hi")(scope, receive, send)

        async with open_server(app) as server, await server.connect() as client:
            for _ in range(3):
                await client.send(GET)
                assert (await client.reply()).body == b"hi"
    assert messages == [{"type": "http.disconnect"}] * 3


async def test_a_slow_reader_gets_everything_and_holds_nobody_up() -> None:
    big = b"0123456789" * 500_000

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = big if scope["path"] == "/big" else b"small"
        await response(200, body)(scope, receive, send)

    async with open_server(app) as server, await server.connect() as slow:
        await slow.send(b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
        async with await server.connect() as client:
            await client.send(GET)
            assert (await client.reply()).body == b"small"
        assert (await slow.reply()).body == big


@pytest.mark.parametrize(
    ("app", "data"),
    [
        (echo, GET),
        (echo, b"GET / HTTP/1.1\r\n\r\n"),
        (websocket_apps.echo, upgrade()),
        (websocket_apps.echo, upgrade() + frame(TEXT, b"a")),
        (websocket_apps.echo, upgrade() + frame(TEXT, b"\xff")),
        (websocket_apps.echo, upgrade() + frame(CLOSE, b"\x03\xe8\xff")),
        (websocket_apps.echo, upgrade() + frame(0xB, b"a")),
        (websocket_apps.echo, upgrade() + close_frame(1000)),
    ],
    ids=["http", "rejected", "left", "message", "no text", "no reason", "no opcode", "closed"],
)
async def test_an_ended_connection_needs_no_garbage_collector(app: App, data: bytes) -> None:
    def connections() -> int:
        return sum(type(thing) is Connection for thing in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = connections()
        async with open_server(app) as server, await server.connect() as client:
            await client.send(data)
            assert await client.more()
        assert connections() == before
    finally:
        gc.enable()
