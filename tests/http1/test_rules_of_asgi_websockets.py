"""ASGI 3.0 as its specification has it: the messages of a WebSocket, and mistakes in them."""

from __future__ import annotations

from typing import Any

import pytest
import trio.testing

from fxtrio.errors import ClientDisconnected

from .frames import CLOSE, TEXT, WebSocket, close_frame, frame, open_websocket, upgrade
from .support import App, open_server

ACCEPT = {"type": "websocket.accept"}


@pytest.mark.parametrize("stage", ["accepted", "closed", "left", "left early"])
async def test_sending_into_a_websocket_that_ended_is_an_os_error(stage: str) -> None:
    raised: list[BaseException] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        if stage == "left early":
            assert (await receive())["type"] == "websocket.disconnect"
        else:
            await send(ACCEPT)
            assert (await receive())["type"] == "websocket.disconnect"
        for kind in ("text", "bytes"):
            try:
                await send({"type": "websocket.send", kind: "x" if kind == "text" else b"x"})
            except OSError as error:
                raised.append(error)
        await send({"type": "websocket.close"})  # to close what is closed is no mistake

    async with open_server(app) as server:
        client = WebSocket((await server.connect()).stream)
        async with client:
            await client.send(upgrade())
            if stage != "left early":
                assert (await client.reply()).status == 101
            if stage in ("accepted", "closed"):
                await client.send(close_frame(1000))
                assert (await client.frame()).opcode == CLOSE
            await trio.testing.wait_all_tasks_blocked()
    assert [type(error) for error in raised] == [ClientDisconnected] * 2


Sent = list[Any]
REJECTIONS: dict[str, tuple[Sent, int, bytes]] = {
    "a close is 403": ([{"type": "websocket.close"}], 403, b""),
    "a close with a code is 403": (
        [{"type": "websocket.close", "code": 4001, "reason": "x"}],
        403,
        b"",
    ),
    "a denial": (
        [
            {"type": "websocket.http.response.start", "status": 401, "headers": [(b"x-a", b"b")]},
            {"type": "websocket.http.response.body", "body": b"no"},
        ],
        *(401, b"no"),
    ),
    "a denial without headers and body": (
        [
            {"type": "websocket.http.response.start", "status": 404},
            {"type": "websocket.http.response.body"},
        ],
        *(404, b""),
    ),
    "a denial in parts": (
        [
            {"type": "websocket.http.response.start", "status": 503, "headers": ()},
            {"type": "websocket.http.response.body", "body": b"la", "more_body": True},
            {"type": "websocket.http.response.body", "body": b"ter"},
        ],
        *(503, b"later"),
    ),
    "a denial as a redirect": (
        [
            {
                "type": "websocket.http.response.start",
                "status": 307,
                "headers": [[b"Location", b"/b"]],
            },
            {"type": "websocket.http.response.body", "body": memoryview(b"")},
        ],
        *(307, b""),
    ),
}


@pytest.mark.parametrize("case", REJECTIONS)
async def test_a_websocket_is_rejected_with_a_response(case: str) -> None:
    messages, status, body = REJECTIONS[case]
    ends: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        for message in messages:
            await send(message)
        ends.append(await receive())

    async with open_server(app) as server, await server.connect() as client:
        await client.send(upgrade())
        reply = await client.reply()
        assert (reply.status, reply.body, reply.get(b"connection")) == (status, body, b"close")
        assert reply.get(b"sec-websocket-accept") is None
        assert await client.is_closed()
    assert ends[0]["type"] == "websocket.disconnect"


def sending(*messages: Any) -> App:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        for message in messages:
            await send(message)

    return app


DENIAL = {"type": "websocket.http.response.start", "status": 401}
EARLY_MISTAKES: dict[str, Sent] = {
    "nothing": [],
    "a message too early": [{"type": "websocket.send", "text": "x"}],
    "a message of HTTP": [{"type": "http.response.start", "status": 200}],
    "a denial without a body": [DENIAL],
    "a body without a denial": [{"type": "websocket.http.response.body"}],
    "two denials": [DENIAL, DENIAL],
    "a denial, then accepted": [DENIAL, ACCEPT],
    "a denial, then closed": [DENIAL, {"type": "websocket.close"}],
    "a denial that is informational": [{**DENIAL, "status": 101}],
    "a denial with text": [DENIAL, {"type": "websocket.http.response.body", "body": "x"}],
    "a subprotocol nobody offered": [{**ACCEPT, "subprotocol": "x"}],
    "a subprotocol in bytes": [{**ACCEPT, "subprotocol": b"x"}],
    "headers in words": [{**ACCEPT, "headers": [("x", "y")]}],
    "a header with a line end": [{**ACCEPT, "headers": [(b"x", b"y\nz")]}],
    "a header that is ours": [{**ACCEPT, "headers": [(b"Sec-WebSocket-Accept", b"y")]}],
    "no type": [{}],
}


@pytest.mark.parametrize("mistake", EARLY_MISTAKES)
async def test_a_mistake_before_a_websocket_is_open_is_a_500(mistake: str) -> None:
    async with open_server(sending(*EARLY_MISTAKES[mistake])) as server:
        async with await server.connect() as client:
            await client.send(upgrade())
            assert (await client.reply()).status == 500
            assert await client.is_closed()
        server.log.take(30)


AFTER_ACCEPTING: dict[str, Sent] = {
    "accepted twice": [ACCEPT],
    "text in bytes": [{"type": "websocket.send", "text": b"x"}],
    "bytes in words": [{"type": "websocket.send", "bytes": "x"}],
    "bytes as a number": [{"type": "websocket.send", "bytes": 5}],
    "neither": [{"type": "websocket.send"}],
    "both are none": [{"type": "websocket.send", "text": None, "bytes": None}],
    "half a character": [{"type": "websocket.send", "text": "\ud800"}],
    "a code that is reserved": [{"type": "websocket.close", "code": 1005}],
    "a code in words": [{"type": "websocket.close", "code": "x"}],
    "a reason in bytes": [{"type": "websocket.close", "reason": b"x"}],
    "a denial too late": [DENIAL],
    "an unknown message": [{"type": "unheard"}],
    "no type": [{}],
}


@pytest.mark.parametrize("mistake", AFTER_ACCEPTING)
async def test_a_mistake_in_an_open_websocket_closes_it_with_1011(mistake: str) -> None:
    async with open_server(sending(ACCEPT, *AFTER_ACCEPTING[mistake])) as server:
        async with await open_websocket(server) as client:
            assert (await client.frame()).code == 1011
            await client.send(close_frame(1011))
            assert await client.is_closed()
        (record,) = await server.errors()
        assert record.exc_info is not None


@pytest.mark.parametrize(
    ("message", "payload"),
    [
        ({"bytes": bytearray(b"abc")}, b"abc"),
        ({"bytes": memoryview(b"xabc")[1:]}, b"abc"),
        ({"bytes": b""}, b""),
        ({"text": ""}, b""),
        ({"text": "🎈", "bytes": None}, "🎈".encode()),
        ({"text": None, "bytes": b"a"}, b"a"),
    ],
)
async def test_a_message_may_be_any_text_or_bytes(message: Any, payload: bytes) -> None:
    app = sending(ACCEPT, {"type": "websocket.send", **message})
    async with open_server(app) as server, await open_websocket(server) as client:
        answer = await client.frame()
        assert (answer.payload, answer.opcode == TEXT) == (
            payload,
            bool(message.get("text") is not None),
        )


@pytest.mark.parametrize("headers", [None, (), [[b"X-A", b"b"]], iter([(b"x-a", b"b")])])
async def test_headers_of_accept_may_be_any_pairs(headers: Any) -> None:
    app = sending({**ACCEPT, "headers": headers, "subprotocol": None})
    async with open_server(app) as server, await server.connect() as client:
        await client.send(upgrade())
        reply = await client.reply()
        assert (reply.status, reply.get(b"x-a")) == (101, b"b" if headers else None)


async def test_a_websocket_message_has_text_or_bytes() -> None:
    messages: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        messages.append(await receive())
        await send(ACCEPT)
        while messages[-1]["type"] != "websocket.disconnect":
            messages.append(await receive())
        messages.append(await receive())

    async with open_server(app) as server, await open_websocket(server) as client:
        await client.send(frame(TEXT, b"a") + frame(2, b"b") + close_frame(4000, b"bye"))
        await client.read_all()
    end = {"type": "websocket.disconnect", "code": 4000, "reason": "bye"}
    assert messages == [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "text": "a", "bytes": None},
        {"type": "websocket.receive", "text": None, "bytes": b"b"},
        *(end, end),
    ]
