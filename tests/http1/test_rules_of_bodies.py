"""RFC 9112, sections 6 and 7: where a body ends, and what would leave that in doubt."""

from __future__ import annotations

from typing import Any

import pytest

from fxtrio.server.http1 import ServerLimits

from .rules import check, chunked, get, head, post, replies, table
from .support import echo, open_server

WITH_NEXT = "200 200"
LAST = b"0\r\n\r\n"
ABC = b"3\r\nabc\r\n" + LAST
TE = b"Transfer-Encoding: chunked"


def length(value: bytes) -> bytes:
    return post(b"abc", b"Content-Length:" + value)


def coding(value: bytes, *fields: bytes) -> bytes:
    return post(ABC, b"Transfer-Encoding:" + value, *fields)


LENGTHS = {
    "6.2 a length is digits": (length(b"3"), WITH_NEXT),
    "6.2 a length may have zeros before it": (length(b" 000000000000000000000000003"), WITH_NEXT),
    "6.2 a length may have thousands of zeros": (length(b"0" * 9000 + b"3"), WITH_NEXT),
    "6.2 a length may be thousands of zeros": (
        post(b"", b"Content-Length: " + b"0" * 9000),
        WITH_NEXT,
    ),
    "6.2 a length may be 0": (post(b"", b"Content-Length: 0"), WITH_NEXT),
    "6.3 without framing there is no body": (post(b""), WITH_NEXT),
    "6.3 a GET may have a body": (
        get(b"Content-Length: 3") + b"abc",
        WITH_NEXT,
    ),
    "6.3 a GET may have a chunked body": (get(TE) + ABC, WITH_NEXT),
    "6.3 a DELETE may have a body": (
        head(b"DELETE / HTTP/1.1", b"Host: a", b"Content-Length: 3") + b"abc",
        WITH_NEXT,
    ),
    "6.3 an old client's body has its length": (
        head(b"POST / HTTP/1.0", b"Content-Length: 3", b"Connection: keep-alive") + b"abc",
        WITH_NEXT,
    ),
    "6.2 a length above what can be counted is refused": (length(b" 18446744073709551616"), "400"),
    "8.6 a length above ours is refused": (length(b" 18446744073709551615"), "413"),
    "6.3 two lengths are refused": (
        post(b"abc", b"Content-Length: 3", b"Content-Length: 4"),
        "400",
    ),
    "6.3 two equal lengths are refused": (
        post(b"abc", b"Content-Length: 3", b"Content-Length: 3"),
        "400",
    ),
} | {
    f"6.3 {value.decode()!r} is no length": (length(value), "400")
    for value in (
        *(b"", b" ", b" 3, 3", b" 3,", b" ,3", b" 3;", b" 3.0", b" 3_0", b" +3", b" -3", b" 0x3"),
        *(b' "3"', b" 3 3", b" three", b" 3\x0b", b" \x0c3", b"\r\n 3", b" 3\r\n ", b" 1e1"),
    )
}

CODINGS = {
    f"7 {value.decode()!r} is the coding chunked": (coding(value), WITH_NEXT)
    for value in (b"chunked", b" chunked ", b"\tchunked", b" CHUNKED", b" cHuNkEd")
} | {
    f"6.3 {value!r} leaves the end open": (coding(value), "400")
    for value in (
        *(b" gzip", b" identity", b" xchunked", b" chunkedx", b' "chunked"', b" chunked;x=y"),
        *(b" chunked, gzip", b" chunked, identity", b" chunked, chunked", b" chunked,", b""),
        *(b" chunked\x0b", b"\x0bchunked", b" chunked\x00", b"\r\n chunked", b" chunked\r\n "),
        *(b" \xe7hunked", b" , chunked gzip", b" chunked chunked"),
    )
} | {
    "6.1 a coding of ours may not follow unknown ones": (coding(b" gzip, chunked"), "501"),
    "6.1 an unknown coding in another field": (coding(b" chunked", b"X: y") + b"", WITH_NEXT),
    "6.1 chunked may not be given twice": (coding(b" chunked", TE), "400"),
    "6.1 nothing may come after chunked": (coding(b" chunked", b"Transfer-Encoding: gzip"), "400"),
    "6.1 a length next to it is refused": (coding(b" chunked", b"Content-Length: 13"), "400"),
    "6.1 a length of 0 next to it is refused": (coding(b" chunked", b"Content-Length: 0"), "400"),
    "6.1 a length before it is refused": (post(ABC, b"Content-Length: 13", TE), "400"),
    "6.1 an empty length before it is refused": (post(ABC, b"Content-Length:", TE), "400"),
    "6.1 a name with white space is refused": (post(ABC, b"Transfer-Encoding : chunked"), "400"),
    "6.1 an old client has no codings": (head(b"POST / HTTP/1.0", TE) + ABC, "400"),
    "6.1 an old client has no codings with a length": (
        head(b"POST / HTTP/1.0", b"Content-Length: 3", TE) + ABC,
        "400",
    ),
    "5.1 an underscore is no hyphen": (
        post(b"", b"Transfer_Encoding: chunked", b"Content_Length: 3"),
        WITH_NEXT,
    ),
}  # fmt: skip

CHUNKS = (
    {
        f"7.1 {size.decode()!r} is the size 3": (chunked(size + b"\r\nabc\r\n" + LAST), WITH_NEXT)
        for size in (b"3", b"03", b"0" * 30 + b"3", b"3;a", b"3;a=b", b"3;a=b;c", b'3;a="b;c"')
    }
    | {
        f"7.1 {size!r} is no size": (chunked(size + b"\r\nabc\r\n" + LAST), "400")
        for size in (
            *(b"", b" 3", b"3 ", b"+3", b"-3", b"0x3", b"3h", b"g", b"3,", b"3\r", b"3.0", b"\xb3"),
            *(b"fffffffffffffffff", b"10000000000000003", b"3;"),
        )
    }
    | {
        "7.1 sizes have upper and lower case": (
            chunked(b"a\r\n0123456789\r\nA\r\n0123456789\r\n" + LAST),
            WITH_NEXT,
        ),
        "7.1 the last chunk may have several zeros": (
            chunked(b"3\r\nabc\r\n000\r\n\r\n"),
            WITH_NEXT,
        ),
        "7.1 a body may be empty": (chunked(LAST), WITH_NEXT),
        "7.1 a chunk may hold line ends": (chunked(b"5\r\n\r\n0\r\n\r\n" + LAST), WITH_NEXT),
        "7.1 data is as long as its size says": (chunked(b"2\r\nabc\r\n" + LAST), "400"),
        "7.1 data is not shorter than its size": (chunked(b"4\r\nabc\r\n" + LAST), "400"),
        "7.1 data ends with a line end": (chunked(b"3\r\nabc" + LAST), "400"),
        "7.1 data does not end with a bare CR": (chunked(b"3\r\nabc\r" + LAST), "400"),
        "7.1 data does not end with a bare LF": (chunked(b"3\r\nabc\n" + LAST), "400"),
        "7.1 data does not end with two line ends": (chunked(b"3\r\nabc\r\n\r\n" + LAST), "400"),
        "7.1 a size does not end with a bare LF": (chunked(b"3\nabc\r\n" + LAST), "400"),
        "7.1 a size does not end with a bare CR": (chunked(b"3\rabc\r\n" + LAST), "400"),
        "7.1 the last size does not end with a bare LF": (chunked(b"0\n\r\n"), "400"),
        "7.1 the body does not end with a bare LF": (chunked(b"0\r\n\n"), "400"),
        "7.1 a huge size is refused when it is above ours": (
            chunked(b"ffffffff\r\n" + b"x" * 200_000),
            "413",
        ),
    }
)

EXTENSIONS = {
    f"7.1.1 {extension.decode()!r} is ignored": (
        chunked(b"3" + extension + b"\r\nabc\r\n0" + extension + b"\r\n\r\n"),
        WITH_NEXT,
    )
    for extension in (b";a", b";a=b", b";a;b=c;d", b';a="b"', b';a="b\\"c"', b';a="\tb "', b';a=""')
} | {
    f"7.1.1 {extension!r} is refused": (chunked(b"3" + extension + b"\r\nabc\r\n" + LAST), "400")
    for extension in (
        *(b";a\nb", b";a\rb", b";a\x00", b';a="b\nc"', b';a="b\r\nc"', b';a="b\x00"', b';a="b'),
        *(b";a\x01", b";a=\x7f", b';a="b"c', b";a=b\nGET / HTTP/1.1"),
    )
}


def trailers(*fields: bytes) -> bytes:
    return chunked(b"3\r\nabc\r\n0\r\n" + b"".join(field + b"\r\n" for field in fields) + b"\r\n")


TRAILERS = {
    "7.1.2 trailers are read": (trailers(b"X: y", b"Z:"), WITH_NEXT),
    "7.1.2 a trailer may not be folded": (trailers(b"X: y", b" z"), "400"),
    "7.1.2 a trailer has a colon": (trailers(b"X"), "400"),
    "7.1.2 a trailer has a name": (trailers(b": y"), "400"),
    "7.1.2 a trailer's name has no white space": (trailers(b"X : y"), "400"),
    "7.1.2 a trailer has no NUL": (trailers(b"X: \x00"), "400"),
    "7.1.2 a trailer does not end with a bare LF": (trailers(b"X: y\nZ: w"), "400"),
    "7.1.2 a trailer does not end with a bare CR": (trailers(b"X: y\rZ: w"), "400"),
    "6.5.1 a trailer does not frame": (trailers(b"Content-Length: 9"), "400"),
    "6.5.1 a trailer does not close": (trailers(b"X-Connection: close"), WITH_NEXT),
}


@table(LENGTHS | CODINGS | CHUNKS | EXTENSIONS | TRAILERS)
async def test_a_body_ends_in_one_place_or_is_rejected(sent: bytes, outcome: str) -> None:
    limits = ServerLimits(body=100_000)
    async with open_server(echo, limits=limits) as server:
        found = await check(server, sent, outcome)
        if b"abc" in sent and outcome == WITH_NEXT and b"_" not in sent:
            assert found[0].body == b"abc"


@pytest.mark.parametrize(
    "sent",
    [
        post(b"ab", b"Content-Length: 3"),
        chunked(b"3\r\nab"),
        chunked(b"3\r\nabc\r\n"),
        chunked(b"3\r\nabc\r\n0\r\n"),
        chunked(b"3\r\nabc\r\n0\r\nX: y\r\n"),
    ],
)
async def test_a_body_that_ends_too_early_is_never_taken_for_whole(sent: bytes) -> None:
    bodies: list[bytes] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message["body"]
            if not message["more_body"]:
                bodies.append(body)

    async with open_server(app) as server:
        answer = await server.ask(sent)
        assert b" 200 " not in answer
    assert bodies == []


async def test_a_body_looks_like_a_request_and_is_none() -> None:
    paths: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        paths.append(scope["path"])
        await echo(scope, receive, send)

    inner = b"GET /inner HTTP/1.1\r\nHost: a\r\n\r\n"
    async with open_server(app) as server:
        for sent in (
            post(inner, b"Content-Length: %d" % len(inner)),
            chunked(b"%x\r\n%b\r\n0\r\n\r\n" % (len(inner), inner)),
            post(inner, b"Content-Length: %d" % len(inner), b"Connection: upgrade", b"Upgrade: a"),
        ):
            found = await replies(server, sent)
            assert [reply.body for reply in found] == [inner, b""]
    assert paths == ["/", "/next"] * 3
