"""RFC 9110 and 9112 on the way out: framing, keep-alive, HEAD, Expect, and offers to upgrade."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from fxtrio.server.http1 import ServerLimits

from .support import App, echo, open_server, response

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


async def test_head_has_the_length_of_get() -> None:
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
    ("head", "stays_open"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", False),
        (b"GET / HTTP/1.1\r\nHost: a\r\nConnection: x, CLOSE\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\nHost: a\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n", True),
    ],
)
async def test_the_version_and_the_client_decide_about_keep_alive(
    head: bytes, stays_open: bool
) -> None:
    async with open_server(response(200, b"hi")) as server, await server.connect() as client:
        await client.send(head)
        reply = await client.reply()
        old = b"HTTP/1.0" in head
        assert reply.get(b"connection") == (
            (b"keep-alive" if old else None) if stays_open else b"close"
        )
        if stays_open:
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


async def test_an_http_1_0_client_gets_no_continue() -> None:
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


async def test_a_body_that_only_the_connection_ends_is_not_taken_for_whole_when_cut_off() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise ValueError("no other half")

    async with open_server(app) as server, await server.connect() as client:
        await client.send(b"GET / HTTP/1.0\r\nHost: a\r\n\r\n")
        with pytest.raises(trio.BrokenResourceError):
            await client.read_all()
        assert len(await server.errors()) == 1


@pytest.mark.parametrize("status", [200, 500])
async def test_a_body_that_does_not_come_is_a_408_whatever_the_application_makes_of_it(
    status: int,
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b"taken for whole"})

    limits = ServerLimits(body_grace=0.1)
    async with open_server(app, limits=limits) as server, await server.connect() as client:
        await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf")
        assert (await client.reply()).status == 408


async def test_an_application_may_say_in_its_own_words_that_a_body_is_rejected() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        await send({"type": "http.response.start", "status": 408, "headers": []})
        await send({"type": "http.response.body", "body": b"too slow"})

    limits = ServerLimits(body_grace=0.1)
    async with open_server(app, limits=limits) as server, await server.connect() as client:
        await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf")
        assert (await client.reply()).body == b"too slow"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        (b"shop.example", 200),
        (b"SHOP.example:8000", 200),
        (b"[::1]:80", 200),
        (b"api.example:81", 200),
        (b"api.example", 404),
        (b"other.example", 404),
        (b"shop.example.evil", 404),
    ],
)
async def test_a_server_with_names_answers_to_them_alone(host: bytes, status: int) -> None:
    names = ("Shop.example", "[::1]", "api.example:81")
    async with open_server(echo, server_names=names) as server, await server.connect() as client:
        await client.send(b"GET / HTTP/1.1\r\nHost: %b\r\n\r\n" % host)
        assert (await client.reply()).status == status
