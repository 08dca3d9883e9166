"""RFC 6455 over real sockets, in the order of the Autobahn list of cases, and ASGI on top of it."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing
from websockets.utils import accept_key

from fxtrio.errors import ClientDisconnected
from fxtrio.http1 import ServerLimits
from fxtrio.http1.response import BadResponse

from .frames import (
    BINARY,
    CLOSE,
    CONT,
    KEY,
    PING,
    PONG,
    TEXT,
    close_frame,
    frame,
    open_websocket,
    upgrade,
)
from .support import App, open_server


async def echo(scope: Any, receive: Any, send: Any) -> None:
    assert scope["type"] == "websocket"
    assert (await receive())["type"] == "websocket.connect"
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"], "bytes": message["bytes"]})


class Recorder:
    """Accepts, and keeps what it was told."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.scope: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scope = scope
        await receive()
        await send({"type": "websocket.accept"})
        while True:
            self.messages.append(await receive())
            if self.messages[-1]["type"] == "websocket.disconnect":
                return


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
    told = app.messages[-1]
    assert (told["type"], told["code"]) == ("websocket.disconnect", code)


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
async def test_the_clients_close_is_answered_and_told(code: int) -> None:
    app = Recorder()
    async with open_server(app) as server, await open_websocket(server) as client:
        await client.send(close_frame(code, "später".encode()))
        answer = await client.frame()
        assert answer.payload == code.to_bytes(2, "big") + "später".encode()
        assert await client.is_closed()
    assert app.messages == [{"type": "websocket.disconnect", "code": code, "reason": "später"}]


async def test_a_close_without_a_code_is_told_as_1005() -> None:
    app = Recorder()
    async with open_server(app) as server, await open_websocket(server) as client:
        await client.send(frame(CLOSE))
        assert (await client.frame()).payload == b""
        assert await client.is_closed()
    assert [message["code"] for message in app.messages] == [1005]


async def test_a_client_that_vanishes_is_told_as_1006() -> None:
    app = Recorder()
    async with open_server(app) as server:
        async with await open_websocket(server) as client:
            await client.send(frame(TEXT, b"last words"))
    assert [message.get("code") for message in app.messages] == [None, 1006]


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


# The handshake (4.2)


@pytest.mark.parametrize(
    ("request_head", "status"),
    [
        (upgrade(version=b"8"), 426),
        (upgrade(key=b"short"), 400),
        (upgrade(key=b"not base64 at all !!!!=="), 400),
        (upgrade(b"/", b"Sec-WebSocket-Key: " + KEY), 400),
        (upgrade().replace(b"Sec-WebSocket-Key: " + KEY + b"\r\n", b""), 400),
        (upgrade().replace(b"Sec-WebSocket-Version: 13\r\n", b""), 426),
        (upgrade(b"/", b"Content-Length: 1"), 400),
        (upgrade(b"/", b"Sec-WebSocket-Protocol: a b"), 400),
    ],
)
async def test_a_bad_handshake_is_refused(request_head: bytes, status: int) -> None:
    async with open_server(echo) as server, await server.connect() as client:
        await client.send(request_head)
        reply = await client.reply()
        assert reply.status == status
        assert reply.get(b"sec-websocket-version") == (b"13" if status == 426 else None)
        assert await client.is_closed()


@pytest.mark.parametrize("line", [b"POST / HTTP/1.1", b"GET / HTTP/1.0"])
async def test_what_cannot_be_a_websocket_is_an_ordinary_request(line: bytes) -> None:
    from .support import response

    async with open_server(response(200, b"plain")) as server, await server.connect() as client:
        await client.send(upgrade().replace(b"GET / HTTP/1.1", line))
        assert (await client.reply()).body == b"plain"


async def test_the_answer_proves_that_the_key_was_read() -> None:
    async with open_server(echo) as server, await server.connect() as client:
        await client.send(upgrade().replace(b"Connection: Upgrade", b"connection: x, uPGRADE"))
        reply = await client.reply()
        assert reply.status == 101
        assert reply.get(b"sec-websocket-accept") == accept_key(KEY.decode()).encode()
        assert reply.get(b"upgrade") == b"websocket"
        assert reply.get(b"connection") == b"Upgrade"
        assert reply.get(b"sec-websocket-extensions") is None


async def test_frames_sent_with_the_handshake_are_not_lost() -> None:
    async with open_server(echo) as server, await server.connect() as client:
        await client.send(upgrade() + frame(TEXT, b"eager") + close_frame(1000))
        assert b"eager" in await client.read_all()


async def test_a_receive_that_began_before_the_accept_gets_what_comes_after_it() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()

        async def pump() -> None:
            message = await receive()
            await send({"type": "websocket.send", "text": message["text"]})

        async with trio.open_nursery() as nursery:
            nursery.start_soon(pump)
            await trio.testing.wait_all_tasks_blocked()
            await send({"type": "websocket.accept"})

    async with open_server(app) as server, await open_websocket(server) as client:
        await client.send(frame(TEXT, b"later") + close_frame(1000))
        assert b"later" in await client.read_all()


async def test_the_application_chooses_among_the_offered_subprotocols() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        assert scope["subprotocols"] == ["one", "two", "three"]
        await send(
            {"type": "websocket.accept", "subprotocol": "two", "headers": [(b"X-Set", b"1")]}
        )

    async with open_server(app) as server, await server.connect() as client:
        head = upgrade(b"/", b"Sec-WebSocket-Protocol: one, two", b"Sec-WebSocket-Protocol: three")
        await client.send(head)
        reply = await client.reply()
        assert reply.get(b"sec-websocket-protocol") == b"two"
        assert reply.get(b"x-set") == b"1"


async def test_the_scope_describes_the_request() -> None:
    app = Recorder()
    async with open_server(app, root_path="/root") as server:
        async with await open_websocket(server, b"/a%20b?c=d"):
            pass
    scope = app.scope
    assert (scope["path"], scope["raw_path"], scope["query_string"]) == ("/a b", b"/a%20b", b"c=d")
    assert (scope["scheme"], scope["http_version"], scope["root_path"]) == ("ws", "1.1", "/root")
    assert scope["client"][0] == "127.0.0.1"


async def test_a_refused_websocket_is_a_403() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.close", "code": 4000})

    async with open_server(app) as server, await server.connect() as client:
        await client.send(upgrade())
        assert (await client.reply()).status == 403
        assert await client.is_closed()


async def test_a_denial_is_a_whole_response() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert "websocket.http.response" in scope["extensions"]
        await receive()
        start = {"type": "websocket.http.response.start", "status": 401}
        await send({**start, "headers": [(b"www-authenticate", b"Basic")]})
        await send({"type": "websocket.http.response.body", "body": b"who ", "more_body": True})
        await send({"type": "websocket.http.response.body", "body": b"are you?"})
        assert (await receive())["type"] == "websocket.disconnect"

    async with open_server(app) as server, await server.connect() as client:
        await client.send(upgrade())
        reply = await client.reply()
        assert (reply.status, reply.body) == (401, b"who are you?")
        assert reply.get(b"www-authenticate") == b"Basic"
        assert await client.is_closed()


async def test_an_application_that_does_not_answer_is_a_500() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()

    async with open_server(app) as server, await server.connect() as client:
        await client.send(upgrade())
        assert (await client.reply()).status == 500


# Limits, and applications that do not play along


async def test_a_message_above_the_limit_is_closed_with_1009() -> None:
    limits = ServerLimits(websocket_message=100)
    app = Recorder()
    async with open_server(app, limits=limits) as server, await open_websocket(server) as client:
        await client.send(frame(BINARY, b"*" * 100))
        await client.send(frame(BINARY, b"*" * 60, fin=False) + frame(CONT, b"*" * 41))
        assert (await client.frame()).code == 1009
        assert await client.is_closed()
    assert [len(message.get("bytes") or b"") for message in app.messages] == [100, 0]
    assert app.messages[-1]["code"] == 1009


async def test_a_loop_that_only_sends_ends_when_the_client_has_left() -> None:
    ended = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        try:
            while True:
                await send({"type": "websocket.send", "text": "tick"})
        except OSError as error:
            assert isinstance(error, ClientDisconnected)
            ended.set()
            raise

    async with open_server(app) as server:
        async with await open_websocket(server) as client:
            await client.frame()
        with trio.fail_after(5):
            await ended.wait()


async def test_a_loop_that_only_sends_does_not_keep_others_waiting() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        if scope["path"] == "/greedy":
            while True:
                await send({"type": "websocket.send", "text": "x"})
        await send({"type": "websocket.send", "text": "served"})

    async with open_server(app) as server, trio.open_nursery() as nursery:
        greedy = await open_websocket(server, b"/greedy")

        async def swallow() -> None:
            while await greedy.more():
                greedy.buffer.clear()

        nursery.start_soon(swallow)
        async with await open_websocket(server, b"/") as client:
            assert (await client.frame()).payload == b"served"
        nursery.cancel_scope.cancel()
        await trio.aclose_forcefully(greedy.stream)


async def test_a_busy_application_answers_pings_and_hears_of_the_end() -> None:
    go = trio.Event()
    told = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await go.wait()
        told.append(await receive())
        told.append(await receive())
        with pytest.raises(ClientDisconnected):
            await send({"type": "websocket.send", "text": "too late"})

    async with open_server(app) as server, await open_websocket(server) as client:
        await client.send(frame(TEXT, b"kept") + frame(PING, b"p"))
        assert (await client.frame()).opcode == PONG
        await client.send(close_frame(4002))
        go.set()
        assert (await client.frame()).code == 4002
        assert await client.is_closed()
    assert [message.get("text") for message in told] == ["kept", None]
    assert told[1]["code"] == 4002


async def test_an_application_that_never_receives_does_not_keep_the_connection_open() -> None:
    ended = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await ended.wait()

    async with open_server(app) as server, await open_websocket(server) as client:
        await client.send(close_frame(1000))
        assert (await client.frame()).code == 1000
        ended.set()
        assert await client.is_closed()


async def test_a_client_is_not_read_further_than_the_backlog() -> None:
    limits = ServerLimits(websocket_backlog=10_000)
    go = trio.Event()
    total = 20_000_000

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await go.wait()
        taken = 0
        while taken < total:
            taken += len((await receive())["bytes"])
        await send({"type": "websocket.send", "text": "all"})

    async with open_server(app, limits=limits) as server, await open_websocket(server) as client:
        sent = trio.Event()

        async def flood() -> None:
            for _ in range(total // 10_000):
                await client.send(frame(BINARY, b"*" * 10_000))
            sent.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(flood)
            with trio.move_on_after(2):
                await sent.wait()
            assert not sent.is_set(), "the server read what nobody receives"
            go.set()
            assert (await client.frame()).payload == b"all"


async def test_pings_are_sent_and_a_client_without_pongs_is_cut_off() -> None:
    limits = ServerLimits(websocket_ping=0.1, websocket_pong=0.3)
    app = Recorder()
    async with open_server(app, limits=limits) as server, await open_websocket(server) as client:
        for _ in range(2):
            ping = await client.frame()
            assert ping.opcode == PING
            await client.send(frame(PONG, ping.payload))
        assert (await client.frame()).opcode == PING
        assert await client.is_closed()
    assert app.messages[-1]["code"] == 1006


async def test_a_client_that_does_not_read_is_cut_off() -> None:
    limits = ServerLimits(write_stall=0.5)
    ended = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        try:
            while True:
                await send({"type": "websocket.send", "bytes": b"*" * 100_000})
        except OSError:
            ended.set()

    async with open_server(app, limits=limits) as server, await open_websocket(server):
        with trio.fail_after(5):
            await ended.wait()


async def test_several_tasks_may_send_at_the_same_time() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})

        async def fill(letter: str) -> None:
            for _ in range(20):
                await send({"type": "websocket.send", "text": letter * 100_000})

        async with trio.open_nursery() as nursery:
            for letter in "abc":
                nursery.start_soon(fill, letter)

    async with open_server(app) as server, await open_websocket(server) as client:
        for _ in range(60):
            payload = (await client.frame()).payload
            assert payload == payload[:1] * 100_000


@pytest.mark.parametrize(
    "messages",
    [
        [{"type": "websocket.send", "text": "too early"}],
        [{"type": "websocket.accept", "subprotocol": "not offered"}],
        [{"type": "websocket.accept", "headers": [(b"sec-websocket-accept", b"x")]}],
        [{"type": "websocket.accept", "headers": [(b"x", b"a\r\nb: c")]}],
        [{"type": "websocket.accept"}, {"type": "websocket.accept"}],
        [{"type": "websocket.accept"}, {"type": "websocket.send"}],
        [{"type": "websocket.accept"}, {"type": "websocket.close", "code": 1006}],
        [{"type": "websocket.accept"}, {"type": "websocket.unheard"}],
        [
            {"type": "websocket.accept"},
            {"type": "websocket.close"},
            {"type": "websocket.send", "text": "late"},
        ],
    ],
)
async def test_an_application_that_breaks_asgi_is_told(messages: list[Any]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        for message in messages:
            await send(message)

    async with open_server(app) as server:
        async with await server.connect() as client:
            await client.send(upgrade())
            await client.more()
        with trio.fail_after(5):
            (record,) = await server.errors()
        assert record.exc_info is not None and record.exc_info[0] is BadResponse
