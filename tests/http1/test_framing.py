"""RFC 9112: where a message begins and ends, and what is refused because it might be doubtful."""

from __future__ import annotations

import pytest
import trio
import trio.lowlevel

from fxtrio.server.http1 import ServerLimits

from .support import echo, open_server

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


def post(framing: bytes, body: bytes) -> bytes:
    return b"POST / HTTP/1.1\r\nHost: a\r\n" + framing + b"\r\n\r\n" + body


@pytest.mark.parametrize(
    ("framing", "sent", "body"),
    [
        (b"Content-Length: 3", b"abc", b"abc"),
        (b"Content-Length: 0", b"", b""),
        (b"content-length:3", b"abc", b"abc"),
        (b"Content-Length: \t3 \t", b"abc", b"abc"),
        (b"Content-Length: 0003", b"abc", b"abc"),
        (b"X: y", b"", b""),
        (b"Transfer-Encoding: chunked", b"3\r\nabc\r\n0\r\n\r\n", b"abc"),
        (b"Transfer-Encoding: Chunked", b"3\r\nabc\r\n0\r\n\r\n", b"abc"),
        (b"Transfer-Encoding: chunked", b"0\r\n\r\n", b""),
        (b"Transfer-Encoding: chunked", b"1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", b"abc"),
        (b"Transfer-Encoding: chunked", b"0003\r\nabc\r\n000\r\n\r\n", b"abc"),
        (b"Transfer-Encoding: chunked", b"A\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
        (b"Transfer-Encoding: chunked", b"a\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
        (b"Transfer-Encoding: chunked", b"3;name=value\r\nabc\r\n0\r\n\r\n", b"abc"),
        (b"Transfer-Encoding: chunked", b'3;name="a;b"\r\nabc\r\n0;x\r\n\r\n', b"abc"),
        (b"Transfer-Encoding: chunked", b"3\r\nabc\r\n0\r\nTrailer: x\r\n\r\n", b"abc"),
        (b"Transfer-Encoding: chunked", b"3\r\n\r\n\r\r\n0\r\n\r\n", b"\r\n\r"),
    ],
)
async def test_a_body_ends_where_its_framing_says(framing: bytes, sent: bytes, body: bytes) -> None:
    async with open_server(echo) as server, await server.connect() as client:
        await client.send(post(framing, sent))
        reply = await client.reply()
        assert (reply.status, reply.body) == (200, body)
        await client.send(GET)
        assert (await client.reply()).status == 200


@pytest.mark.parametrize("size", [1, 2, 3, 7])
async def test_a_message_may_come_in_pieces_of_any_size(size: int) -> None:
    message = post(b"Transfer-Encoding: chunked", b"3;a=b\r\nabc\r\n0\r\nT: x\r\n\r\n")
    async with open_server(echo) as server, await server.connect() as client:
        for start in range(0, len(message), size):
            await client.send(message[start : start + size])
            await trio.lowlevel.checkpoint()
        assert (await client.reply()).body == b"abc"
        await client.send(GET)
        assert (await client.reply()).status == 200


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        # both framings (RFC 9112, 6.1 and 6.3)
        (post(b"Content-Length: 3\r\nTransfer-Encoding: chunked", b"0\r\n\r\n"), 400),
        (post(b"Transfer-Encoding: chunked\r\nContent-Length: 3", b"0\r\n\r\n"), 400),
        # lengths that do not agree, or are none
        (post(b"Content-Length: 3\r\nContent-Length: 4", b"abcd"), 400),
        (post(b"Content-Length: 3, 4", b"abcd"), 400),
        (post(b"Content-Length: -1", b"abc"), 400),
        (post(b"Content-Length: +3", b"abc"), 400),
        (post(b"Content-Length: 0x3", b"abc"), 400),
        (post(b"Content-Length: 3 3", b"abc"), 400),
        (post(b"Content-Length: three", b"abc"), 400),
        (post(b"Content-Length: ", b"abc"), 400),
        (post(b"Content-Length: 99999999999999999999", b"abc"), 400),
        # codings we do not know, or that do not end in chunked
        (post(b"Transfer-Encoding: gzip, chunked", b"0\r\n\r\n"), 501),
        (post(b"Transfer-Encoding: gzip", b"abc"), 400),
        (post(b"Transfer-Encoding: identity", b"abc"), 400),
        (post(b"Transfer-Encoding: xchunked", b"0\r\n\r\n"), 400),
        (post(b"Transfer-Encoding: chunked, chunked", b"0\r\n\r\n"), 400),
        (post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", b"0\r\n\r\n"), 400),
        (post(b"Transfer-Encoding: chunked, identity", b"0\r\n\r\n"), 400),
        (post(b"Transfer-Encoding: \x0bchunked", b"0\r\n\r\n"), 400),
        (post(b"Transfer-Encoding : chunked", b"0\r\n\r\n"), 400),
        (b"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        # chunks (7.1)
        (post(b"Transfer-Encoding: chunked", b"x\r\nabc\r\n0\r\n\r\n"), 400),
        (post(b"Transfer-Encoding: chunked", b"0x3\r\nabc\r\n0\r\n\r\n"), 400),
        (post(b"Transfer-Encoding: chunked", b"-1\r\nabc\r\n0\r\n\r\n"), 400),
        (post(b"Transfer-Encoding: chunked", b"3 \r\nabc\r\n0\r\n\r\n"), 400),
        (post(b"Transfer-Encoding: chunked", b"3\nabc\r\n0\r\n\r\n"), 400),
        (post(b"Transfer-Encoding: chunked", b"3\r\nabcd\r\n0\r\n\r\n"), 400),
        (post(b"Transfer-Encoding: chunked", b"3\r\nabc\n0\r\n\r\n"), 400),
        (post(b"Transfer-Encoding: chunked", b"fffffffffffffffff\r\nabc"), 400),
        (post(b"Transfer-Encoding: chunked", b"\r\nabc\r\n0\r\n\r\n"), 400),
        (post(b"Transfer-Encoding: chunked", b"3\r\nabc\r\n0\r\nBad Trailer: x\r\n\r\n"), 400),
        # the request line (3) and the header (5)
        (b"GET / HTTP/1.1\nHost: a\n\n", 400),
        (b"GET / HTTP/1.1\r\nHost:\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: y\nZ: w\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: y\rZ\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n folded\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\n: y\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX(y): z\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: y\x00z\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: y\x7fz\r\n\r\n", 400),
        (b"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400),
        (b"GET  HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /\r\n\r\n", 505),
        (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        (b"GET / HTTP/0.1\r\nHost: a\r\n\r\n", 505),
        (b"GET / HTTP/2.1\r\nHost: a\r\n\r\n", 505),
        (b"GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505),
        (b"GET / HTTP/1.2\r\n\r\n", 400),
        (b"GET / HTTP/1.10\r\nHost: a\r\n\r\n", 400),
        (b"GET / http/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET / RTSP/1.0\r\nHost: a\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40), 400),
        (b"\x00\x01\x02\x03\r\n\r\n", 400),
        # methods (RFC 9110, 9.1)
        (b"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
        (b"get / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
        (b"G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"SOURCE / HTTP/1.1\r\nHost: a\r\n\r\n", 501),
        (b"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 501),
        # the target (3.2)
        (b"GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET http://user@a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET http:///b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        # Host (RFC 9112, 3.2)
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a:b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a,b:80:90\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: \xe4\r\n\r\n", 400),
        (b"GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        # expectations (RFC 9110, 10.1.1)
        (b"GET / HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\n\r\n", 417),
    ],
)
async def test_what_cannot_be_read_in_one_way_only_is_rejected(sent: bytes, status: int) -> None:
    async with open_server(echo) as server, await server.connect() as client:
        await client.send(sent + GET)
        reply = await client.reply()
        assert reply.status == status
        assert reply.get(b"connection") == b"close"
        assert await client.is_closed()


@pytest.mark.parametrize(
    "line",
    [
        b"GET / HTTP/1.1\r\nHost: a",
        b"GET / HTTP/1.1\r\nHost: a:80",
        b"GET / HTTP/1.1\r\nHost: a:",
        b"GET / HTTP/1.1\r\nHost: [::1]:80",
        b"GET / HTTP/1.1\r\nHost: a%20b",
        b"GET / HTTP/1.0",
        b"GET / HTTP/1.1\r\nhOsT:\ta\t",
        b"\r\nGET / HTTP/1.1\r\nHost: a",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: \xe4\r\nY:\r\nZ: a\tb",
        b"DELETE / HTTP/1.1\r\nHost: a",
        b"PATCH / HTTP/1.1\r\nHost: a",
        b"QUERY / HTTP/1.1\r\nHost: a",
        b"PROPFIND / HTTP/1.1\r\nHost: a",
        b"OPTIONS * HTTP/1.1\r\nHost: a",
        b'GET /?a="<>|{}^` HTTP/1.1\r\nHost: a',
    ],
)
async def test_what_the_grammar_allows_is_taken(line: bytes) -> None:
    async with open_server(echo) as server:
        answer = await server.ask(line + b"\r\nConnection: close\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")


async def test_an_absolute_target_replaces_the_host() -> None:
    seen: list[object] = []

    async def app(scope, receive, send) -> None:
        seen.append((scope["path"], scope["query_string"], dict(scope["headers"])[b"host"]))
        await echo(scope, receive, send)

    async with open_server(app) as server:
        await server.ask(
            b"GET http://b:81/c%20d?e HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        )
        await server.ask(b"GET http://[::1]:82 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert seen == [("/c d", b"e", b"b:81"), ("/", b"", b"[::1]:82")]


async def test_requests_before_a_bad_one_are_answered_first() -> None:
    async with open_server(echo) as server, await server.connect() as client:
        await client.send(GET + post(b"Content-Length: 2", b"hi") + b"BAD\x00\r\n\r\n")
        assert (await client.reply()).status == 200
        assert (await client.reply()).body == b"hi"
        assert (await client.reply()).status == 400
        assert await client.is_closed()


async def test_trailers_do_not_become_headers() -> None:
    seen: list[bytes] = []

    async def app(scope, receive, send) -> None:
        await echo(scope, receive, send)
        seen.extend(name for name, _ in scope["headers"])

    async with open_server(app) as server, await server.connect() as client:
        await client.send(
            post(b"Transfer-Encoding: chunked", b"0\r\nHost: evil\r\nAuthorization: x\r\n\r\n")
        )
        assert (await client.reply()).status == 200
    assert seen == [b"host", b"transfer-encoding"]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /" + b"a" * 300 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 600 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: a\r\n" * 20 + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 700, 431),
        (b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X" * 700, 431),
        (b"\r\n" * 400, 431),
        (post(b"Content-Length: 51", b""), 413),
        (post(b"Transfer-Encoding: chunked", b"33\r\n" + b"a" * 51 + b"\r\n0\r\n\r\n"), 413),
        (post(b"Transfer-Encoding: chunked", b"1;" + b"x" * 500), 413),
        (post(b"Transfer-Encoding: chunked", b"0\r\n" + b"T: a\r\n" * 100), 413),
        (post(b"Transfer-Encoding: chunked", b"1;" + b"x" * 500 + b"\r\na\r\n0\r\n\r\n"), 413),
    ],
)
async def test_every_part_of_a_message_has_a_limit(sent: bytes, status: int) -> None:
    limits = ServerLimits(request_line=256, head=512, headers=16, body=50, chunk_overhead=100)
    async with open_server(echo, limits=limits) as server, await server.connect() as client:
        await client.send(sent)
        assert (await client.reply()).status == status
        assert await client.is_closed()
