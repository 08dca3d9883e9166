"""What clients of HTTP/2 may send that is no request, or none that can be taken.

An attack returns the events that applications must have recorded afterwards. Whoever runs it
checks what holds after each.
"""

from __future__ import annotations

import struct

import trio
from hpack import Encoder

from .client import (
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    PATIENCE,
    PING,
    PREFACE,
    PRIORITY,
    RESET,
    SETTINGS,
    WINDOW,
    Header,
    Http2,
    ask,
    frame,
    head,
)
from .servers import Target

CALM = 11  # ENHANCE_YOUR_CALM
EMPTY_SETTINGS = frame(SETTINGS, 0, 0)


async def flood(server: Target, *frames: bytes, times: int = 4000) -> None:
    """Send the same over and over, reading nothing; the connection must end in disgrace."""
    async with await server.http2() as client:
        await client.begin()
        with trio.fail_after(PATIENCE):
            for _ in range(times // 100):
                await client.raw(*frames * 100)
            assert await client.wait_goodbye() != 0


async def rapid_reset(server: Target) -> None:
    async with await server.http2() as client:
        await client.begin()
        with trio.fail_after(PATIENCE):
            for number in range(1, 6001, 2):
                await client.raw(head(ask("/slow"), number), frame(RESET, 0, number, bytes(4)))
            await client.wait_goodbye()
    await trio.sleep(1)  # for the few that began


async def ping_flood(server: Target) -> None:
    await flood(server, frame(PING, 0, 0, bytes(8)))


async def settings_flood(server: Target) -> None:
    await flood(server, EMPTY_SETTINGS)


async def large_settings(server: Target) -> None:
    await flood(server, frame(SETTINGS, 0, 0, struct.pack("!HI", 4, 70000) * 2000), times=200)


async def empty_data_flood(server: Target) -> None:
    async with await server.http2() as client:
        await client.begin()
        await client.ask("/length", "POST", end=False)  # which may be answered for want of time
        for _ in range(60):
            await client.raw(frame(DATA, 0, 1) * 100)
        await client.wait_goodbye()


async def priority_flood(server: Target) -> None:
    frames = [frame(PRIORITY, 0, number, struct.pack("!IB", 0, 1)) for number in range(1, 12001, 2)]
    async with await server.http2() as client:
        await client.begin()
        await client.raw(*frames)
        await client.wait_goodbye()


async def priority_chain(server: Target) -> None:
    """A tree as deep as it can be, with a request at its end."""
    frames = [
        frame(PRIORITY, 0, number + 2, struct.pack("!IB", number, 1))
        for number in range(1, 1601, 2)
    ]
    async with await server.http2() as client:
        await client.begin()
        await client.raw(*frames)
        client.h2.get_next_available_stream_id()
        await client.raw(head(ask("/"), 1601))
        with trio.fail_after(PATIENCE):
            while client.answers.get(1601) is None and not client.ended:
                data = await client.stream.receive_some(65536)
                if b"fine" in data or not data:
                    break


async def priority_of_itself(server: Target) -> None:
    for payload in (struct.pack("!IB", 1, 1), struct.pack("!IB", 3 | 1 << 31, 255)):
        async with await server.http2() as client:
            await client.begin()
            await client.raw(
                frame(PRIORITY, 0, 1, payload),
                frame(PRIORITY, 0, 3, struct.pack("!IB", 1 | 1 << 31, 1)),
                head(ask()),
            )
            await read_some(client)


async def continuation_flood(server: Target) -> None:
    async with await server.http2() as client:
        await client.begin()
        await client.raw(frame(HEADERS, END_STREAM, 1, head(ask())[9:]))
        for _ in range(40):
            await client.raw(frame(CONTINUATION, 0, 1, b"\x00\x01a\x01b" * 3000))
        await client.wait_goodbye()


async def continuation_of_nothing(server: Target) -> None:
    await flood(server, head(ask()), *[frame(CONTINUATION, 0, 1)] * 100, times=100)


async def header_bomb(server: Target) -> None:
    """Few bytes that are a large list: references to one entry of the table."""
    block = Encoder().encode([*ask(), ("x-large", "*" * 3900)])
    async with await server.http2() as client:
        await client.begin()
        await client.raw(frame(HEADERS, END_HEADERS | END_STREAM, 1, block + b"\xbe" * 12000))
        assert await client.wait_goodbye()


async def many_headers(server: Target) -> None:
    async with await server.http2() as client:
        await client.begin()
        stream = await client.ask("/", "GET", *[(f"x-{n}", "1") for n in range(200)])
        answer = await client.answer(stream)
        assert answer.status in (431, 0)
        assert answer.status == 431 or client.last_stream is not None


async def large_header(server: Target) -> None:
    async with await server.http2() as client:
        await client.begin()
        stream = client.h2.get_next_available_stream_id()
        block = Encoder().encode([*ask(), *[(f"x-{n}", "*" * 3000) for n in range(40)]])
        pieces = [block[start : start + 16000] for start in range(0, len(block), 16000)]
        await client.raw(frame(HEADERS, END_STREAM, stream, pieces[0]))
        for piece in pieces[1:-1]:
            await client.raw(frame(CONTINUATION, 0, stream, piece))
        await client.raw(frame(CONTINUATION, END_HEADERS, stream, pieces[-1]))
        assert await client.wait_goodbye() in (CALM, None)


BAD_REQUESTS: dict[str, list[Header]] = {
    "an upper-case name": [*ask(), ("X-Upper", "1")],
    "no path": ask()[:1] + ask()[2:],
    "no method": ask()[1:],
    "no scheme": ask()[:2] + ask()[3:],
    "no authority": ask()[:3],
    "a path twice": [*ask(), (":path", "/x")],
    "a pseudo header at the end": [*ask()[:3], ("x", "y"), ask()[3]],
    "an unknown pseudo header": [*ask(), (":fragment", "x")],
    "a status": [*ask(), (":status", "200")],
    "connection": [*ask(), ("connection", "close")],
    "transfer-encoding": [*ask(), ("transfer-encoding", "chunked")],
    "te": [*ask(), ("te", "gzip")],
    "another host": [*ask(), ("host", "b")],
    "an empty path": ask(""),
    "an empty name": [*ask(), ("", "x")],
    "a line feed": [*ask(), ("x", "a\r\nb: c")],
    "a negative length": [*ask(method="POST"), ("content-length", "-1")],
    "two lengths": [*ask(method="POST"), ("content-length", "1"), ("content-length", "2")],
    "no number": [*ask(method="POST"), ("content-length", "x")],
    "a length and no body": [*ask(method="POST"), ("content-length", "5")],
}
"""Requests after which the connection may end."""

ODD_REQUESTS: dict[str, tuple[list[Header], int]] = {
    "a method beyond ASCII": (ask(method="GÉT"), 400),
    "a method with a space": (ask(method="GET /"), 400),
    "a path beyond ASCII": (ask("/é"), 400),
    "a path with a space": (ask("/a b"), 400),
    "a path without a slash": (ask("about"), 400),
    "a whole URL": (ask("http://b/about"), 400),
    "a fragment": (ask("/about#x"), 400),
    "an asterisk": (ask("*"), 400),
    "a long path": (ask("/" + "a" * 9000), 414),
    "a bad authority": (ask(authority="a<b>"), 400),
    "somebody's authority": (ask(authority="user@a"), 400),
    "a plain CONNECT": ([(":method", "CONNECT"), (":authority", "a:1")], 501),
    "another protocol": (
        [(":method", "CONNECT"), (":protocol", "connect-udp"), *ask()[1:]],
        501,
    ),
    "a WebSocket of no version": (
        [(":method", "CONNECT"), (":protocol", "websocket"), *ask("/echo")[1:]],
        400,
    ),
    "a large body announced": ([*ask("/length", "POST"), ("content-length", "999999")], 413),
}
"""Requests that are answered with a status, on a connection that goes on."""


async def bad_requests(server: Target) -> None:
    for name, headers in BAD_REQUESTS.items():
        async with await server.http2() as client:
            await client.begin()
            stream = client.h2.get_next_available_stream_id()
            client.h2.send_headers(stream, headers, end_stream=True)
            await client.flush()
            answer = await client.answer(stream)
            assert answer.status in (0, 400), name
            assert answer.status or answer.reset or client.ended, name


async def odd_requests(server: Target) -> None:
    async with await server.http2() as client:
        await client.begin()
        for name, (headers, status) in ODD_REQUESTS.items():
            stream = client.h2.get_next_available_stream_id()
            ends = status != 413 and ":protocol" not in dict(headers)
            client.h2.send_headers(stream, headers, end_stream=ends)
            await client.flush()
            answer = await client.answer(stream)
            assert answer.status == status, name
        assert (await client.get()).body == b"fine"


async def read_some(client: Http2) -> None:
    """Read what comes within a moment, understood or not."""
    with trio.move_on_after(0.3):
        try:
            while await client.stream.receive_some(65536):
                pass
        except trio.BrokenResourceError:
            pass


async def frames_out_of_place(server: Target) -> None:
    whole = head(ask())
    for sent in (
        head(ask(), 2),  # a number of the server's
        whole + whole,  # the same number again
        head(ask(), 5) + head(ask(), 3),  # a lower number
        whole + frame(DATA, 0, 1, b"late"),
        frame(DATA, 0, 1, b"early"),
        frame(DATA, 0, 0, b"nowhere"),
        frame(RESET, 0, 1, bytes(4)),
        frame(RESET, 0, 0, bytes(4)),
        whole + frame(RESET, 0, 1, b"12"),
        frame(WINDOW, 0, 0, struct.pack("!I", 0)),
        whole + frame(WINDOW, 0, 1, struct.pack("!I", 0)),
        frame(WINDOW, 0, 0, struct.pack("!I", 2**31 - 1)) * 2,
        head(ask("/slow")) + frame(WINDOW, 0, 1, struct.pack("!I", 2**31 - 1)) * 2,
        frame(SETTINGS, 0, 0, struct.pack("!HI", 4, 2**31)),
        frame(SETTINGS, 0, 0, struct.pack("!HI", 5, 1)),
        frame(SETTINGS, 0, 0, b"odd"),
        frame(SETTINGS, 1, 0, b"123456"),
        frame(SETTINGS, 0, 1),
        frame(PING, 0, 0, b"short"),
        frame(PING, 0, 1, bytes(8)),
        frame(5, 4, 1, struct.pack("!I", 2) + whole[9:]),  # a promise
        frame(7, 0, 0, b"short"),
        frame(99, 255, 7, b"unknown"),
        frame(HEADERS, END_STREAM, 1) + frame(DATA, 0, 1, b"in between"),
        frame(HEADERS, END_HEADERS | 8, 1, b"\xff"),  # more padding than payload
        frame(HEADERS, END_HEADERS, 1, b"\xff" * 50),  # no index of any table
        struct.pack("!I", 2**24 - 1)[1:] + b"\x00\x00\x00\x00\x00\x01" + b"x" * 100,
        b"\x00" * 200,
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 20,
    ):
        async with await server.http2() as client:
            await client.stream.send_all(PREFACE + EMPTY_SETTINGS)
            await client.raw(sent, frame(PING, 0, 0, bytes(8)))
            await read_some_quickly(client)


async def read_some_quickly(client: Http2) -> None:
    with trio.move_on_after(0.05):
        try:
            while await client.stream.receive_some(65536):
                pass
        except trio.BrokenResourceError:
            pass


async def truncated(server: Target) -> None:
    """The beginning of a connection, cut anywhere, then the end or silence."""
    whole = PREFACE + EMPTY_SETTINGS + head(ask("/length", "POST"), end=False)
    whole += frame(DATA, 0, 1, b"*" * 50)
    for cut in range(1, len(whole), 7):
        async with await server.http2() as client:
            await client.raw(whole[:cut])


async def silence(server: Target) -> None:
    """Connections that stop at some point, and are let go."""
    whole = PREFACE + EMPTY_SETTINGS + frame(HEADERS, 0, 1, head(ask())[9:])
    async with trio.open_nursery() as nursery:
        for cut in (3, 24, 30, 33, 40, len(whole)):
            nursery.start_soon(_stop_at, server, whole[:cut])


async def _stop_at(server: Target, data: bytes) -> None:
    async with await server.http2() as client:
        await client.raw(data)
        with trio.fail_after(PATIENCE):
            try:
                while await client.stream.receive_some(65536):
                    pass
            except trio.BrokenResourceError:
                pass


async def pings_without_requests(server: Target) -> None:
    """Somebody who only pings does not keep a connection for ever."""
    async with await server.http2() as client:
        await client.begin()
        with trio.fail_after(PATIENCE):
            while client.last_stream is None and not client.ended:
                client.h2.ping(bytes(8))
                await client.flush()
                await client.read()
                await trio.sleep(0.1)
        assert client.pongs > 5
        # A ping that crosses the end resets the connection, and GOAWAY is lost with it.
        assert await client.wait_goodbye() in ((0, None) if server.kind == "fx" else (None,))


async def big_table(server: Target) -> None:
    """A client that lets the server's table of headers grow without an end."""
    async with await server.http2() as client:
        client.h2.local_settings[1] = 2**32 - 1
        await client.begin()
        for _ in range(20):
            assert (await client.get()).body == b"fine"


async def shaken_hands(server: Target) -> None:
    """What comes to a port of TLS that is no TLS, or not all of it; h2c to one that is not."""
    openings = [
        b"",
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
        b"\xff" * 500,
    ]
    openings += [PREFACE + EMPTY_SETTINGS, b"\x16\x03\x01\xff\xff" + b"\x00" * 70000]
    async with trio.open_nursery() as nursery:
        for opening in openings:
            nursery.start_soon(_greet, server, opening, True)
            nursery.start_soon(_greet, server, opening, False)


async def _greet(server: Target, greeting: bytes, stays: bool) -> None:
    stream = await server.plain()
    with trio.fail_after(PATIENCE):
        try:
            await stream.send_all(greeting)
            while stays and await stream.receive_some(65536):
                pass
        except trio.BrokenResourceError:
            pass
    await trio.aclose_forcefully(stream)


async def odd_upgrades(server: Target) -> None:
    """Offers of h2c that are none."""
    for settings in (b"a", b"!!!!", b"AAMAAABk" * 100, b"AAUAAAAB", b"AAQ_____", b"AAI", b""):
        for behind in (b"", b"x" * 30, PREFACE + EMPTY_SETTINGS):
            async with await server.http1() as client:
                await client.send(
                    b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                    b"Upgrade: h2c\r\nHTTP2-Settings: %b\r\n\r\n%b" % (settings, behind)
                )
                with trio.move_on_after(0.03):
                    try:
                        while await client.more():
                            pass
                    except trio.BrokenResourceError:
                        pass
