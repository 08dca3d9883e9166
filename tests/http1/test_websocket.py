"""RFC 6455 over real sockets, in the order of the Autobahn list of cases."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from fxtrio.server.http1 import ServerLimits

from .frames import (
    BINARY,
    CLOSE,
    CONT,
    PING,
    PONG,
    TEXT,
    WebSocket,
    close_frame,
    frame,
    open_websocket,
    upgrade,
)
from .support import App, open_server
from .websocket_apps import Recorder, echo

# 1, 9: messages of every size


@pytest.mark.parametrize("opcode", [TEXT, BINARY])
@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 128, 65535, 65536, 300_000])
async def test_a_message_of_any_size_comes_back(opcode: int, size: int) -> None:
    payload = b"*" * size
    async with open_server(echo) as server, await open_websocket(server) as client:
        await client.send(frame(opcode, payload))
        answer = await client.frame()
        assert (answer.opcode, answer.payload, answer.fin, answer.rsv) == (opcode, payload, True, 0)


@pytest.mark.parametrize("piece", [1, 7, 1000])
async def test_a_frame_may_come_in_pieces(piece: int) -> None:
    data = frame(TEXT, b"*" * 2000)
    async with open_server(echo) as server, await open_websocket(server) as client:
        for start in range(0, len(data), piece):
            await client.send(data[start : start + piece])
        assert len((await client.frame()).payload) == 2000


async def test_many_frames_in_one_write_come_back_in_order() -> None:
    async with open_server(echo) as server, await open_websocket(server) as client:
        await client.send(b"".join(frame(TEXT, b"%d" % number) for number in range(3000)))
        for number in range(3000):
            assert (await client.frame()).payload == b"%d" % number


# 2: pings and pongs


@pytest.mark.parametrize("payload", [b"", b"Hello", bytes(range(0, 250, 2)), b"\xff" * 125])
async def test_a_ping_is_answered_with_its_payload(payload: bytes) -> None:
    async with open_server(echo) as server, await open_websocket(server) as client:
        await client.send(frame(PING, payload))
        answer = await client.frame()
        assert (answer.opcode, answer.payload) == (PONG, payload)


async def test_unasked_pongs_are_ignored() -> None:
    async with open_server(echo) as server, await open_websocket(server) as client:
        await client.send(frame(PONG) + frame(PONG, b"x") + frame(PING, b"y"))
        assert (await client.frame()).payload == b"y"


async def test_a_ping_between_fragments_is_answered_at_once() -> None:
    async with open_server(echo) as server, await open_websocket(server) as client:
        await client.send(frame(TEXT, b"a", fin=False) + frame(PING, b"p"))
        assert (await client.frame()).opcode == PONG
        await client.send(frame(CONT, b"b"))
        assert (await client.frame()).payload == b"ab"


# 3, 4, 5, 7: what breaks the protocol


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (frame(TEXT, b"a", rsv=1), 1002),
        (frame(TEXT, b"a", rsv=2), 1002),
        (frame(TEXT, b"a", rsv=4), 1002),
        (frame(PING, b"a", rsv=4), 1002),
        (frame(CLOSE, b"", rsv=7), 1002),
        *((frame(opcode, b"a"), 1002) for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)),
        (frame(TEXT, b"a", masked=False), 1002),
        (frame(PING, b"*" * 126), 1002),
        (frame(PONG, b"*" * 126), 1002),
        (frame(PING, b"a", fin=False), 1002),
        (frame(PONG, b"a", fin=False), 1002),
        (frame(CLOSE, b"", fin=False), 1002),
        (frame(CONT, b"a"), 1002),
        (frame(CONT, b"a", fin=False), 1002),
        (frame(TEXT, b"a", fin=False) + frame(TEXT, b"b"), 1002),
        (frame(TEXT, b"a", fin=False) + frame(BINARY, b"b"), 1002),
        (frame(TEXT, b"a", fin=False) + frame(CONT, b"b") + frame(CONT, b"c"), 1002),
        (frame(CLOSE, b"\x03"), 1002),
        *(
            (close_frame(code), 1002)
            for code in (0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535)
        ),
        (close_frame(1000, b"\xff"), 1007),
        (frame(CLOSE, b"\x03\xe8" + b"*" * 124), 1002),
        (frame(TEXT, b"\xff"), 1007),
        (frame(TEXT, b"\xed\xa0\x80"), 1007),  # a surrogate
        (frame(TEXT, b"\xf4\x90\x80\x80"), 1007),  # above U+10FFFF
        (frame(TEXT, b"\xc0\xaf"), 1007),  # longer than needed
        (frame(TEXT, b"\xce"), 1007),  # cut short
        (frame(TEXT, b"\xce", fin=False) + frame(CONT, b"\xff"), 1007),
        (frame(TEXT, b"ok", fin=False) + frame(CONT, b"\xff", fin=False), 1007),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else "frames",
)
async def test_a_client_that_breaks_the_protocol_is_closed(sent: bytes, code: int) -> None:
    app = Recorder()
    async with open_server(app) as server, await open_websocket(server) as client:
        await client.send(sent)
        answer = await client.frame()
        while answer.opcode != CLOSE:
            answer = await client.frame()
        assert answer.code == code
        assert await client.is_closed()
    message = app.messages[-1]
    assert (message["type"], message["code"]) == ("websocket.disconnect", code)


@pytest.mark.parametrize(
    "parts",
    [
        [b"a", b"b"],
        [b"", b"", b""],
        [b"", b"middle", b""],
        ["κόσμε".encode()[:3], "κόσμε".encode()[3:]],
        [bytes([byte]) for byte in "κόσμε 🎈".encode()],
    ],
)
async def test_fragments_are_joined(parts: list[bytes]) -> None:
    frames = [
        frame(CONT if number else TEXT, part, fin=number == len(parts) - 1)
        for number, part in enumerate(parts)
    ]
    async with open_server(echo) as server, await open_websocket(server) as client:
        await client.send(b"".join(frames))
        assert (await client.frame()).payload == b"".join(parts)


# 7: closing


@pytest.mark.parametrize(
    "code", [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]
)
async def test_the_clients_close_is_answered_and_reported(code: int) -> None:
    app = Recorder()
    async with open_server(app) as server, await open_websocket(server) as client:
        await client.send(close_frame(code, "später".encode()))
        answer = await client.frame()
        assert answer.payload == code.to_bytes(2, "big") + "später".encode()
        assert await client.is_closed()
    assert app.messages == [{"type": "websocket.disconnect", "code": code, "reason": "später"}]


async def test_a_close_without_a_code_is_reported_as_1005() -> None:
    app = Recorder()
    async with open_server(app) as server, await open_websocket(server) as client:
        await client.send(frame(CLOSE))
        assert (await client.frame()).payload == b""
        assert await client.is_closed()
    assert [message["code"] for message in app.messages] == [1005]


async def test_a_client_that_vanishes_is_reported_as_1006() -> None:
    app = Recorder()
    async with open_server(app) as server:
        async with await open_websocket(server) as client:
            await client.send(frame(TEXT, b"last words"))
    assert [message.get("code") for message in app.messages] == [None, 1006]


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("later", [False, True])
async def test_what_comes_before_the_accept_is_received_by_whom_waits_for_it_already(
    count: int, later: bool
) -> None:
    waiting = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()

        async def echo_some() -> None:
            for _ in range(count):
                message = await receive()
                await send({"type": "websocket.send", "text": message["text"]})
            nursery.cancel_scope.cancel()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(echo_some)
            await trio.testing.wait_all_tasks_blocked()
            waiting.set()
            if later:
                await trio.testing.wait_all_tasks_blocked(0.05)
            await send({"type": "websocket.accept"})

    sent = b"".join(frame(TEXT, b"%d" % number) for number in range(count))
    async with open_server(app) as server:
        async with WebSocket((await server.connect()).stream) as client:
            await client.send(upgrade() + (b"" if later else sent))
            if later:
                await waiting.wait()
                await client.send(sent)
            assert (await client.reply()).status == 101
            for number in range(count):
                assert (await client.frame()).payload == b"%d" % number


async def test_messages_after_the_clients_close_are_ignored() -> None:
    app = Recorder()
    async with open_server(app) as server, await open_websocket(server) as client:
        await client.send(close_frame(1000) + frame(TEXT, b"late") + frame(PING))
        assert (await client.frame()).code == 1000
        assert await client.is_closed()
    assert [message["type"] for message in app.messages] == ["websocket.disconnect"]


def closing(**message: Any) -> App:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close", **message})

    return app


@pytest.mark.parametrize(
    ("message", "code", "reason"),
    [
        ({}, 1000, b""),
        ({"code": 4001}, 4001, b""),
        ({"code": 1008, "reason": "no"}, 1008, b"no"),
        ({"code": 1008, "reason": None}, 1008, b""),
        ({"code": 1008, "reason": "ü" * 100}, 1008, "ü".encode() * 61),
    ],
)
async def test_the_application_closes_with_its_code(
    message: dict[str, Any], code: int, reason: bytes
) -> None:
    async with open_server(closing(**message)) as server, await open_websocket(server) as client:
        answer = await client.frame()
        assert (answer.code, answer.payload[2:]) == (code, reason)
        await client.send(close_frame(code))
        assert await client.is_closed()


async def test_an_application_that_returns_closes_with_1000() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})

    async with open_server(app) as server, await open_websocket(server) as client:
        assert (await client.frame()).code == 1000


async def test_an_application_that_raises_closes_with_1011_and_is_logged() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        raise LookupError("a defect")

    async with open_server(app) as server:
        async with await open_websocket(server) as client:
            assert (await client.frame()).code == 1011
        (record,) = await server.errors()
        assert record.exc_info is not None and record.exc_info[0] is LookupError


async def test_a_client_that_never_answers_a_close_is_cut_off() -> None:
    limits = ServerLimits(websocket_close=0.2)
    async with open_server(closing(), limits=limits) as server:
        async with await open_websocket(server) as client:
            assert (await client.frame()).code == 1000
            assert await client.is_closed()
