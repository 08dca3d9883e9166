"""RFC 9112, sections 2, 3, 5 and 9, and the parts of RFC 9110 that a server decides on its own."""

from __future__ import annotations

from typing import Any

import pytest

from fxtrio.server.http1 import ServerLimits

from .rules import NEXT, check, get, head, post, replies, table
from .support import echo, open_server

H = b"Host: a"
WITH_NEXT = "200 200"

REQUEST_LINE = {
    "2.2 empty lines before the request line are ignored": (b"\r\n\r\n" + get(), WITH_NEXT),
    "2.2 a bare LF may end the empty line": (b"\n" + get(), WITH_NEXT),
    "2.2 white space before the method is refused": (b" " + get(), "400"),
    "2.2 white space before the first field is refused": (get()[:16] + b" X: y\r\n\r\n", "400"),
    "2.2 a bare CR ends no line": (b"GET / HTTP/1.1\rHost: a\r\n\r\n", "400"),
    "2.2 a second CR is no part of the line": (b"GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", "400"),
    "2.3 a higher minor version is read as ours": (head(b"GET / HTTP/1.2", H), WITH_NEXT),
    "2.3 the highest minor version, too": (head(b"GET / HTTP/1.9", H), WITH_NEXT),
    "2.3 a higher minor version needs a Host": (head(b"GET / HTTP/1.2"), "400"),
    "2.3 a minor version has one digit": (head(b"GET / HTTP/1.10", H), "400"),
    "2.3 a major version has one digit": (head(b"GET / HTTP/01.1", H), "400"),
    "2.3 there is nothing behind the version": (head(b"GET / HTTP/1.1x", H), "400"),
    "2.3 a version has a minor one": (head(b"GET / HTTP/1", H), "400"),
    "2.3 a version has digits": (head(b"GET / HTTP/A.B", H), "400"),
    "2.3 a version is one": (head(b"GET / HTTP/", H), "400"),
    "2.3 another protocol is none of ours": (head(b"GET / FTTP/1.1", H), "400"),
    "15.6.6 another major version is refused": (head(b"GET / HTTP/3.0", H), "505"),
    "15.6.6 a request without a version is refused": (b"GET /\r\n\r\n", "505"),
    "3 a tab does not end the method": (b"GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
    "3 a tab does not end the target": (b"GET /\tHTTP/1.1\r\nHost: a\r\n\r\n", "400"),
    "3 there is a target": (b"GET HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
    "3.1 a method that begins like ours is not ours": (head(b"GETT / HTTP/1.1", H), "501"),
    "3.1 a method has upper and lower case": (head(b"Get / HTTP/1.1", H), "501"),
    "3.1 a long method is unknown": (head(b"A" * 4000 + b" / HTTP/1.1", H), "501"),
    "3.1 a method is a token": (head(b"G(T / HTTP/1.1", H), "400"),
    "3.1 there is a method": (head(b" / HTTP/1.1", H), "400"),
    "3.1 a method of ours has all its letters": (head(b"GE / HTTP/1.1", H), "501"),
    "9.3.8 TRACE is for the application": (head(b"TRACE / HTTP/1.1", H), WITH_NEXT),
    "9.3.6 CONNECT is not supported": (head(b"CONNECT a:443 HTTP/1.1", H), "501"),
    "9.3.6 CONNECT is not supported for a path, either": (head(b"CONNECT / HTTP/1.1", H), "501"),
}

TARGETS = {
    "3.2.1 a path may have two slashes": (get(target=b"//b/c"), WITH_NEXT),
    "3.2.1 a query may be empty": (get(target=b"/?"), WITH_NEXT),
    "3.2.1 a query may have question marks": (get(target=b"/?a?b"), WITH_NEXT),
    "3.2.1 an escape may be wrong": (get(target=b"/a%zz?%"), WITH_NEXT),
    "3.2.1 an escape may be no UTF-8": (get(target=b"/a%ff"), WITH_NEXT),
    "3.2.1 a path begins with a slash": (get(target=b"a/b"), "400"),
    "3.2.1 a query alone is no target": (get(target=b"?a"), "400"),
    "3.2 a control character is refused": (get(target=b"/\x01"), "400"),
    "3.2 DEL is refused": (get(target=b"/\x7f"), "400"),
    "3.2 NUL is refused": (get(target=b"/\x00"), "400"),
    "3.2 a byte above ASCII is refused": (get(target=b"/\x80"), "400"),
    "3.2 a fragment is refused": (get(target=b"/#"), "400"),
    "3.2 a fragment is refused in a query, too": (get(target=b"/a?b#c"), "400"),
    "3.2.2 an absolute target is taken": (get(target=b"http://b/c"), WITH_NEXT),
    "3.2.2 an absolute target may have no path": (get(target=b"http://b?c"), WITH_NEXT),
    "3.2.2 a scheme has no case": (get(target=b"HtTP://b/"), WITH_NEXT),
    "3.2.2 a host may have an empty port": (get(target=b"http://b:/"), WITH_NEXT),
    "3.2.2 a host may have escapes": (get(target=b"http://%62_c/"), WITH_NEXT),
    "3.2.2 a host may be an address": (get(target=b"http://[::1]:80/"), WITH_NEXT),
    "3.2.2 Host is needed nevertheless": (head(b"GET http://b/ HTTP/1.1"), "400"),
    "3.2.2 a bad Host is refused nevertheless": (
        head(b"GET http://b/ HTTP/1.1", b"Host: a b"),
        "400",
    ),
    "4.2.1 the host is not empty": (get(target=b"http:///c"), "400"),
    "4.2.1 the host is not only a port": (get(target=b"http://:80/c"), "400"),
    "4.2.4 a user is refused": (get(target=b"http://user:secret@b/"), "400"),
    "4.2.4 an empty user is refused": (get(target=b"http://@b/"), "400"),
    "4.2.2 https is refused where anybody can listen": (get(target=b"https://b/"), "421"),
    "4.2 another scheme is refused": (get(target=b"ftp://b/"), "400"),
    "3.2.2 a bracket is closed": (get(target=b"http://[::1/"), "400"),
    "3.2.3 a host and port alone are for CONNECT": (get(target=b"b:80"), "400"),
    "3.2.4 the whole server has options": (head(b"OPTIONS * HTTP/1.1", H), WITH_NEXT),
    "3.2.4 a resource has options": (head(b"OPTIONS /a HTTP/1.1", H), WITH_NEXT),
    "3.2.4 only options are about the whole server": (head(b"POST * HTTP/1.1", H), "400"),
    "3.2.4 an asterisk stands alone": (head(b"OPTIONS *a HTTP/1.1", H), "400"),
    "3.2.4 an asterisk has no query": (head(b"OPTIONS *?a HTTP/1.1", H), "400"),
}


def host(value: bytes) -> bytes:
    return head(b"GET / HTTP/1.1", b"Host:" + value)


HOSTS = {
    f"3.2 Host may be {value.decode()!r}": (host(value), WITH_NEXT)
    for value in (
        *(b" a", b" a:", b" a:80", b" a:99999", b" a_b", b" a..b", b" A.B"),
        *(b" 1.2.3.4", b" [::1]", b" [::1]:80", b" [::ffff:1.2.3.4]", b" [v1.a:b]", b" a%62"),
        *(b" a~b", b" a;b+c=d", b"\ta\t"),
    )
} | {
    f"3.2 Host may not be {value!r}": (host(value), "400")
    for value in (
        *(b"", b" ", b" :80", b" a,b", b" a, b", b" ,"),
        *(b" [::1", b" ::1", b" a:80x", b" a:-1", b" [::1]x", b" [::g]", b" []", b" [v1]"),
        *(b" a b", b" a\tb", b" a/b", b" a?b", b" a#b", b" a\\b", b" a%2", b" a%zz", b" user@a"),
        *(b" <a>", b' "a"', b" http://a", b" a:80:90", b" a{b}", b" a|b", b" a^b", b" \xc3\xa4"),
    )
}

NAMES = b"!#$%&'*+-.^_`|~09Az"
ALONE = {
    f"5.3 {name.decode()} is told once, however alike": (get(*[name + b": " + value] * 2), "400")
    for name, value in (
        (b"Origin", b"http://a"),
        (b"Sec-Fetch-Site", b"same-origin"),
        (b"sec-fetch-site", b"none"),
        (b"Authorization", b"Basic eDp5"),
    )
} | {
    "5.3 two Origins are refused": (get(b"Origin: http://a", b"X: y", b"oRIGIN: null"), "400"),
    "5.3 two Sec-Fetch-Sites are refused": (
        get(b"Sec-Fetch-Site: same-origin", b"Sec-Fetch-Site: cross-site"),
        "400",
    ),
    "3.2 two Hosts are refused": (get(b"Host: b"), "400"),
    "5.3 one of each is taken": (
        get(b"Origin: http://a", b"Sec-Fetch-Site: none", b"Authorization: x"),
        WITH_NEXT,
    ),
}

FIELDS = {
    "5.1 a field may have no white space": (get(b"X:y"), WITH_NEXT),
    "5.1 a field may have white space on both sides": (get(b"X: \t y \t "), WITH_NEXT),
    "5.1 a field may be empty": (get(b"X:", b"Y: "), WITH_NEXT),
    "5.1 a name is any token": (get(NAMES + b": y"), WITH_NEXT),
    "5.5 a value may have bytes above ASCII": (get(b"X: \x80\xff"), WITH_NEXT),
    "5.5 a value may have tabs inside": (get(b"X: a\tb"), WITH_NEXT),
    "5.1 white space before the colon is refused": (get(b"X : y"), "400"),
    "5.1 a tab before the colon is refused": (get(b"X\t: y"), "400"),
    "5.1 a field has a colon": (get(b"X"), "400"),
    "5.1 a name is not empty": (get(b": y"), "400"),
    "5.2 a folded line is refused": (get(b"X: y", b" z"), "400"),
    "5.2 a line folded with a tab is refused": (get(b"X: y", b"\tz"), "400"),
    "5.2 a folded line without content is refused": (get(b"X: y", b" "), "400"),
    "2.2 a bare LF ends no field": (get(b"X: y\nZ: w"), "400"),
    "2.2 a bare CR ends no field": (get(b"X: y\rZ: w"), "400"),
    "2.2 two CR end no field": (get(b"X: y\r"), "400"),
    "2.2 a bare LF does not end the head": (get(b"X: y")[:-2] + b"\n", "400"),
} | {
    f"5.1 a name has no {bytes([byte])!r}": (get(b"X%cX: y" % byte), "400")
    for byte in b"\x00\x01\x1f \"(),/;<=>?@[\\]{}\x7f\x80\xff"
} | {
    f"5.5 a value has no {bytes([byte])!r}": (get(b"X: y%cz" % byte), "400")
    for byte in b"\x00\x01\x08\x0b\x0c\x1b\x1f\x7f"
}  # fmt: skip

OLD = b"HTTP/1.0"
KEEP = b"Connection: keep-alive"
CLOSE = b"Connection: close"
CONNECTIONS = {
    "9.3 a connection is kept": (get(), WITH_NEXT),
    "9.6 the client may close": (get(CLOSE), "200"),
    "9.6 an option has no case": (get(b"cOnNeCtIoN: ClOsE"), "200"),
    "9.6 close may be one of several": (get(b"Connection: a, close ,b"), "200"),
    "9.6 close may be in the second field": (get(KEEP, CLOSE), "200"),
    "9.6 close may be in the first field": (get(CLOSE, KEEP), "200"),
    "5.6.1 empty members are ignored": (get(b"Connection: ,, close,"), "200"),
    "9.6 what only looks like close is not": (get(b"Connection: closed, x-close"), WITH_NEXT),
    "7.6.1 no option may be given": (get(b"Connection:"), WITH_NEXT),
    "9.3 an old client's connection is closed": (get(version=OLD), "200"),
    "9.3 an old client may ask to keep it": (get(KEEP, version=OLD), WITH_NEXT),
    "9.3 an old client's close is stronger": (
        get(b"Connection: keep-alive, close", version=OLD),
        "200",
    ),
    "9.3 an old client's close is stronger in any field": (get(CLOSE, KEEP, version=OLD), "200"),
    "7.8 an offer without its option is ignored": (get(b"Upgrade: websocket"), WITH_NEXT),
    "7.8 an option without its offer is ignored": (get(b"Connection: upgrade"), WITH_NEXT),
    "7.8 an unknown offer is ignored": (
        get(b"Connection: upgrade", b"Upgrade: a/1, b"),
        WITH_NEXT,
    ),
    "7.8 an empty offer is ignored": (get(b"Connection: upgrade", b"Upgrade:"), WITH_NEXT),
    "7.8 an old client's offer is ignored": (
        get(b"Connection: upgrade, keep-alive", b"Upgrade: h2c", version=OLD),
        WITH_NEXT,
    ),
    "7.8 an ignored offer does not keep the connection": (
        get(b"Connection: upgrade, close", b"Upgrade: a"),
        "200",
    ),
}

EXPECTATIONS = {
    "10.1.1 without a body there is nothing to wait for": (
        get(b"Expect: 100-continue"),
        WITH_NEXT,
    ),
    "10.1.1 an expectation has no case": (get(b"EXPECT: 100-CONTINUE"), WITH_NEXT),
    "10.1.1 an expectation may be given twice": (
        get(b"Expect: 100-continue, 100-continue"),
        WITH_NEXT,
    ),
    "10.1.1 no expectation is none": (get(b"Expect: ,"), WITH_NEXT),
    "10.1.1 an unknown one is refused": (get(b"Expect: 200-ok"), "417"),
    "10.1.1 an unknown one next to a known one is refused": (
        get(b"Expect: 100-continue, 200-ok"),
        "417",
    ),
    "10.1.1 the body may have come already": (
        post(b"abc", b"Expect: 100-continue", b"Content-Length: 3"),
        WITH_NEXT,
    ),
    "10.1.1 an old client is not told to go on": (
        get(b"Expect: 100-continue", b"Content-Length: 0", version=OLD),
        "200",
    ),
}


@table(REQUEST_LINE | TARGETS | HOSTS | ALONE | FIELDS | CONNECTIONS | EXPECTATIONS)
async def test_a_head_is_taken_or_rejected(sent: bytes, outcome: str) -> None:
    async with open_server(echo) as server:
        await check(server, sent, outcome)
        for line in server.log.take(0):
            assert len(line.getMessage().splitlines()) == 1
            assert len(line.getMessage()) < 600


@pytest.mark.parametrize("field", [b"X: y\xff\r\n" * 200, b"Host: " + b"<" * 30_000 + b"\r\n"])
async def test_a_rejection_is_a_short_line_in_the_log(field: bytes) -> None:
    async with open_server(echo) as server:
        (reply,) = await replies(server, b"GET / HTTP/1.1\r\n" + field + b"\r\n")
        assert reply.status in (400, 431)
        lines = [record.getMessage() for record in server.log.take(0)]
        (line,) = [line for line in lines if "rejected" in line]
        assert len(line) < 600


@pytest.mark.parametrize(
    ("line", "fields", "seen"),
    [
        (b"GET http://b/c?d HTTP/1.1", [H], ("/c", b"d", b"b")),
        (b"GET http://B:81 HTTP/1.1", [b"X: y", H], ("/", b"", b"B:81")),
        (b"GET http://b/ HTTP/1.0", [], ("/", b"", b"b")),
        (b"GET http://b?c/d HTTP/1.0", [H], ("/", b"c/d", b"b")),
        (b"OPTIONS * HTTP/1.1", [H], ("*", b"", b"a")),
        (b"GET //b/c HTTP/1.1", [H], ("//b/c", b"", b"a")),
        (b"GET /a%2Fb%20%zz?%20 HTTP/1.1", [H], ("/a/b %zz", b"%20", b"a")),
    ],
)
async def test_the_target_has_the_path_and_the_authority(
    line: bytes, fields: list[bytes], seen: tuple[str, bytes, bytes]
) -> None:
    found: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        found.append((scope["path"], scope["query_string"], *hosts))
        await echo(scope, receive, send)

    async with open_server(app) as server:
        await server.ask(head(line, *fields))
    assert found == [seen]


async def test_names_of_ours_are_compared_with_the_target_when_it_has_a_host() -> None:
    async with open_server(echo, server_names=("ours",)) as server:
        for target, field, status in [
            (b"http://ours/", b"other", 200),
            (b"http://other/", b"ours", 404),
        ]:
            (reply, *_) = await replies(
                server, head(b"GET %b HTTP/1.1" % target, b"Host: " + field)
            )
            assert reply.status == status


async def test_nothing_is_read_after_a_request_that_closes() -> None:
    paths: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        paths.append(scope["path"])
        await echo(scope, receive, send)

    async with open_server(app) as server:
        for closing in (get(CLOSE), get(version=OLD), get(b"Host: b")):
            await replies(server, closing)
    assert "/next" not in paths


@pytest.mark.parametrize("number", [90, 100])
async def test_as_many_fields_and_bytes_as_the_limits_say_are_taken(number: int) -> None:
    limits = ServerLimits(headers=100, request_line=8000, head=60_000)
    fields = [b"X-%d: %b" % (count, b"y" * 400) for count in range(number - 1)]
    async with open_server(echo, limits=limits) as server:
        await check(server, get(*fields, target=b"/" + b"a" * 7999), "200 200")
        (reply,) = await replies(server, get(*fields, *[b"X: y"] * (101 - number)))
        assert reply.status == 431
        assert NEXT not in reply.body
