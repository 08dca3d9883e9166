"""RFC 9110 and 9112 on the way out: framing, keep-alive, HEAD, Expect; and what ASGI asks."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import pytest
import trio

from fxtrio.errors import ClientDisconnected
from fxtrio.http1 import ServerLimits
from fxtrio.http1.response import BadResponse

from .support import App, echo, open_server, read_body, response

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
HEAD = b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"


def streaming(*parts: bytes, headers: Any = ()) -> App:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body"})

    return app


async def test_a_short_answer_comes_in_one_piece_with_its_length_and_date() -> None:
    async with open_server(response(200, b"hi", (b"X-A", b"b"))) as server:
        async with await server.connect() as client:
            await client.send(GET)
            reply = await client.reply()
    assert reply.headers[0] == (b"x-a", b"b")
    assert reply.get(b"content-length") == b"2"
    date = reply.get(b"date")
    assert date is not None and date.endswith(b" GMT")
    assert reply.get(b"server") is reply.get(b"connection") is None


async def test_an_application_may_set_its_own_date_and_server() -> None:
    app = response(200, b"", (b"Date", b"today"), (b"server", b"mine"))
    async with open_server(app) as server, await server.connect() as client:
        await client.send(GET)
        reply = await client.reply()
        assert (reply.get(b"date"), reply.get(b"server")) == (b"today", b"mine")


async def test_a_stream_is_chunked_and_empty_parts_do_not_end_it() -> None:
    async with open_server(streaming(b"a", b"", b"bc")) as server:
        async with await server.connect() as client:
            for _ in range(2):
                await client.send(GET)
                reply = await client.reply()
                assert reply.get(b"transfer-encoding") == b"chunked"
                assert reply.body == b"abc"


async def test_a_stream_with_a_length_is_not_chunked() -> None:
    app = streaming(b"a", b"bc", headers=[(b"content-length", b"3")])
    async with open_server(app) as server, await server.connect() as client:
        await client.send(GET * 2)
        for _ in range(2):
            reply = await client.reply()
            assert (reply.body, reply.get(b"transfer-encoding")) == (b"abc", None)


async def test_a_stream_to_an_old_client_ends_with_the_connection() -> None:
    async with open_server(streaming(b"a", b"b")) as server:
        answer = await server.ask(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    assert b"chunked" not in answer
    assert b"connection: close\r\n" in answer
    assert answer.endswith(b"\r\n\r\nab")


@pytest.mark.parametrize("app", [response(200, b"body"), streaming(b"body")])
async def test_head_has_no_body_and_keeps_the_connection(app: App) -> None:
    async with open_server(app) as server, await server.connect() as client:
        await client.send(HEAD + HEAD)
        assert (await client.reply("HEAD")).status == 200
        assert (await client.reply("HEAD")).status == 200


async def test_head_tells_the_length_that_get_has() -> None:
    async with open_server(response(200, b"body")) as server, await server.connect() as client:
        await client.send(HEAD)
        assert (await client.reply("HEAD")).get(b"content-length") == b"4"


@pytest.mark.parametrize("status", [204, 304])
async def test_some_statuses_have_no_body(status: int) -> None:
    app = response(status, b"dropped", (b"content-length", b"7"))
    async with open_server(app) as server, await server.connect() as client:
        await client.send(GET)
        reply = await client.reply()
        assert reply.get(b"transfer-encoding") is None
        assert (reply.get(b"content-length") is None) == (status == 204)
        await client.send(GET)
        assert (await client.reply()).status == status


@pytest.mark.parametrize(
    ("head", "kept"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", False),
        (b"GET / HTTP/1.1\r\nHost: a\r\nConnection: x, CLOSE\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\nHost: a\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n", True),
    ],
)
async def test_the_version_and_the_client_decide_about_keep_alive(head: bytes, kept: bool) -> None:
    async with open_server(response(200, b"hi")) as server, await server.connect() as client:
        await client.send(head)
        reply = await client.reply()
        old = b"HTTP/1.0" in head
        assert reply.get(b"connection") == ((b"keep-alive" if old else None) if kept else b"close")
        if kept:
            await client.send(head)
            assert (await client.reply()).body == b"hi"
        else:
            assert await client.is_closed()


async def test_an_application_may_close() -> None:
    app = response(200, b"hi", (b"connection", b"close"))
    async with open_server(app) as server, await server.connect() as client:
        await client.send(GET + GET)
        assert (await client.reply()).get(b"connection") == b"close"
        assert await client.is_closed()


async def test_a_connection_serves_only_so_many_requests() -> None:
    limits = ServerLimits(requests=2)
    app = response()
    async with open_server(app, limits=limits) as server, await server.connect() as client:
        await client.send(GET * 3)
        assert (await client.reply()).get(b"connection") is None
        assert (await client.reply()).get(b"connection") == b"close"
        assert await client.is_closed()


async def test_pipelined_requests_are_answered_in_order() -> None:
    async with open_server(echo) as server, await server.connect() as client:
        await client.send(
            b"".join(b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n" % number for number in range(500))
        )
        for number in range(500):
            assert (await client.reply()).get(b"x-path") == b"/%d" % number


async def test_continue_is_sent_when_the_application_wants_the_body() -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
    async with open_server(echo) as server, await server.connect() as client:
        await client.send(head)
        assert (await client.reply()).status == 100
        await client.send(b"hi")
        assert (await client.reply()).body == b"hi"
        await client.send(GET)
        assert (await client.reply()).status == 200


async def test_no_continue_is_sent_when_the_body_came_along_or_is_not_wanted() -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n"
    async with open_server(echo) as server, await server.connect() as client:
        await client.send(head + b"hi")
        assert (await client.reply()).body == b"hi"
    async with open_server(response(403)) as server, await server.connect() as client:
        await client.send(head)
        reply = await client.reply()
        assert (reply.status, reply.get(b"connection")) == (403, b"close")
        assert await client.is_closed()


async def test_an_old_client_is_never_told_to_continue() -> None:
    head = b"POST / HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
    async with open_server(echo) as server:
        assert (await server.ask(head + b"hi")).startswith(b"HTTP/1.1 200 OK")


async def test_an_answer_arrives_although_the_body_was_not_read() -> None:
    async with open_server(response(413, b"no")) as server, await server.connect() as client:
        await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n")
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def flood() -> None:
                try:
                    await client.send(b"x" * 900_000)
                except trio.BrokenResourceError:
                    return

            assert (await client.reply()).body == b"no"


async def test_an_offer_to_upgrade_that_is_not_taken_is_ignored() -> None:
    async with open_server(echo) as server, await server.connect() as client:
        for framing, body in [
            (b"Content-Length: 3\r\n", b"abc"),
            (b"Transfer-Encoding: chunked\r\n", b"3\r\nabc\r\n0\r\n\r\n"),
            (b"", b""),
        ]:
            await client.send(
                b"POST /1 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n"
                + (framing or b"Upgrade: unheard/1\r\n")
                + b"\r\n"
                + body
                + GET
            )
            reply = await client.reply()
            assert (reply.status, reply.get(b"x-path")) == (200, b"/1")
            assert reply.body == (b"abc" if body else b"")
            assert (await client.reply()).get(b"x-path") == b"/"


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
async def test_a_broken_answer_is_cut_off_so_that_the_client_can_tell(
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


# Disconnects


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
            await client.send(GET * 10_000)
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


async def test_requests_that_come_while_the_application_listens_are_kept() -> None:
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
