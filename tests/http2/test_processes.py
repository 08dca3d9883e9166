"""What HTTP/2 means to a whole process: its end, its siblings, its log, its number of requests."""

from __future__ import annotations

import json
import signal
import struct
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import psutil
import pytest
import trio

from ..supervise.support import lives
from .client import (
    DATA,
    HEADERS,
    PATIENCE,
    PREFACE,
    PRIORITY,
    SETTINGS,
    Http2,
    frame,
)
from .exchanges import has_noted, open_websocket
from .servers import Kind, Target, target

BOTH = pytest.mark.parametrize("kind", ["fx", "stock"])


async def _idle(client: Http2) -> None:
    await client.begin()
    await client.get()


async def _with_half_a_preface(client: Http2) -> None:
    await client.raw(PREFACE[:20])


async def _with_half_a_head(client: Http2) -> None:
    await client.raw(PREFACE, frame(SETTINGS, 0, 0), frame(HEADERS, 0, 1, b"\x82"))


async def _with_half_a_body(client: Http2) -> None:
    await client.begin()
    await client.ask("/length", "POST", end=False)


async def _with_an_unread_body(client: Http2) -> None:
    await client.begin()
    stream = await client.ask("/leaving", "POST", end=False)
    await client.raw(frame(DATA, 0, stream, b"*" * 1000) * 15)


async def _without_a_window(client: Http2) -> None:
    await client.begin(window=0)
    await client.ask("/big")


async def _that_does_not_read(client: Http2) -> None:
    await client.begin(window=2**31 - 1)
    await client.ask("/big")


async def _that_is_sent_to_for_ever(client: Http2) -> None:
    await client.begin()
    await client.ask("/endless")


async def _that_waits(client: Http2) -> None:
    await client.begin()
    await client.ask("/leaving")


async def _with_a_websocket(client: Http2) -> None:
    await client.begin()
    await open_websocket(client, "/echo")


CROWD: tuple[Callable[[Http2], Awaitable[None]], ...] = (
    _idle,
    _with_half_a_preface,
    _with_half_a_head,
    _with_half_a_body,
    _with_an_unread_body,
    _without_a_window,
    _that_does_not_read,
    _that_is_sent_to_for_ever,
    _that_waits,
    _with_a_websocket,
)


@pytest.mark.parametrize(("kind", "secure"), [("fx", True), ("fx", False), ("stock", False)])
async def test_no_client_holds_the_end_up(kind: Kind, secure: bool) -> None:
    async with target(kind, secure=secure, workers=1) as server, AsyncExitStack() as stack:
        await stack.enter_async_context(await server.http1())
        mute = await server.plain()  # with TLS, in the middle of its handshake
        stack.push_async_callback(trio.aclose_forcefully, mute)
        for behave in CROWD:
            await behave(await stack.enter_async_context(await server.http2()))
        assert await server.get() == b"fine"
        with trio.fail_after(5):  # the grace is a second
            assert await server.stop() == 0
        assert "Traceback" not in server.log


@BOTH
async def test_requests_in_flight_are_answered_at_the_end(kind: Kind) -> None:
    async with target(kind, workers=1) as server:
        async with await server.http2() as client, await server.http2() as other:
            await client.begin()
            stream = await client.ask("/slow")
            await other.begin()
            socket = await open_websocket(other, "/echo")
            assert await has_noted(server, "slow began")
            server.process.send_signal(signal.SIGTERM)
            answer = await client.answer(stream)
            assert (answer.status, answer.body, answer.ended) == (200, b"slow", True)
            assert await client.wait_goodbye() == 0
            with trio.fail_after(PATIENCE):
                while not other.ended:
                    await other.read()
            assert struct.pack("!H", 1001) in other.answers[socket].body
        with trio.fail_after(PATIENCE):
            assert await server.process.wait() == 0


async def _bytes_after_the_answer(client: Http2) -> None:
    stream = await client.ask("/", "POST", end=False)
    assert (await client.answer(stream, acknowledge=False)).body == b"fine"
    await client.raw(frame(DATA, 0, stream, b"late"))


async def _too_many_priorities(client: Http2) -> None:
    for number in range(1, 2401, 2):
        await client.raw(frame(PRIORITY, 0, number, struct.pack("!IB", 0, 1)))


async def _a_method_beyond_ascii(client: Http2) -> None:
    await client.ask("/", "GÉT")


async def _strike(server: Target, kill: Callable[[Http2], Awaitable[None]]) -> None:
    async with await server.http2() as client:
        await client.begin()
        await kill(client)
        with trio.move_on_after(0.2):
            while not client.ended:
                await client.read()


async def test_workers_live_through_what_ends_all_of_them_without_the_guard() -> None:
    async with target("stock", workers=2) as server:
        await _wait_until(lambda: server.log.count("Running on") >= 2)
        before = _workers(server)
        for kill in (_bytes_after_the_answer, _too_many_priorities, _a_method_beyond_ascii):
            await _strike(server, kill)
            assert await server.get() == b"fine"
            assert _workers(server) == before, kill


async def test_one_frame_after_the_end_of_its_stream_ends_all_workers_without_the_patch() -> None:
    async with target("stock", workers=2, guarded=False) as server:
        await _wait_until(lambda: server.log.count("Running on") >= 2)
        await _strike(server, _bytes_after_the_answer)
        with trio.fail_after(PATIENCE):
            await server.process.wait()


async def _wait_until(holds: Callable[[], bool]) -> None:
    with trio.fail_after(2 * PATIENCE):
        while not holds():  # noqa: ASYNC110  # no event tells
            await trio.sleep(0.01)


def _workers(server: Target) -> set[int]:
    children = psutil.Process(server.process.pid).children(recursive=True)
    return {child.pid for child in children if lives(child)}


async def test_requests_are_logged_and_counted_and_proxies_believed() -> None:
    async with target(
        "fx", access_log="json", max_requests=6, trusted_proxies=("127.0.0.1",)
    ) as server:
        async with await server.http2() as client:
            await client.begin()
            forwarded = ("x-forwarded-for", "203.0.113.9"), ("x-forwarded-proto", "https")
            stream = await client.ask("/about", "GET", *forwarded)
            about: dict[str, Any] = json.loads((await client.answer(stream)).body)
            assert about["client"][0] == "203.0.113.9"
            assert (about["scheme"], about["http_version"]) == ("https", "2")
            assert about["headers"][0] == ["host", "a"]
            for path in ("/raises", "/", "/raises-late", "/"):
                await client.get(path)
            client.h2.send_headers(
                11,
                [(":method", "GET"), (":path", "/é"), (":scheme", "http"), (":authority", "a")],
                end_stream=True,
            )
            await client.flush()
            assert (await client.answer(11)).status == 400
            for _ in range(2):
                await client.get()
            assert await client.wait_goodbye() == 0
        await _wait_until(lambda: len(server.output.splitlines()) >= 7)
        lines = [json.loads(line) for line in server.output.splitlines()]
        assert [(line["target"], line["status"]) for line in lines[:7]] == [
            ("/about", 200),
            ("/raises", 500),
            ("/", 200),
            ("/raises-late", 200),  # it was cut off
            ("/", 200),
            ("/", 200),
            ("/", 200),
        ]
        assert {line["http"] for line in lines} == {"2"}
        assert lines[0]["client"] == "203.0.113.9"
        assert lines[2]["bytes"] == len(b"fine")


async def test_the_log_has_the_status_and_the_bytes_that_were_sent() -> None:
    async with target("fx", access_log="json") as server:
        async with await server.http2() as client:
            await client.begin()
            await client.get("/streams")
            await client.answer(await client.ask("/streams", "HEAD"))
            await client.get("/raises-late")
            cut_off = await client.ask("/endless")
            with trio.fail_after(PATIENCE):
                while cut_off not in client.answers or not client.answers[cut_off].body:
                    await client.read()
            client.h2.reset_stream(cut_off)
            await client.flush()
            await client.get("/")
            await client.ask("/leaving")
            await client.get("/")
        await _wait_until(lambda: len(server.output.splitlines()) >= 7)
        lines = [json.loads(line) for line in server.output.splitlines()]
    endless = lines.pop(3 if lines[3]["target"] == "/endless" else 4)
    assert (endless["status"], endless["bytes"] > 0) == (200, True)
    assert [(line["target"], line["status"], line["bytes"]) for line in lines] == [
        ("/streams", 203, 120_000),
        ("/streams", 203, 0),
        ("/raises-late", 200, 1),
        ("/", 200, 4),
        ("/", 200, 4),
        ("/leaving", 499, 0),
    ]


async def test_a_client_of_another_kind_is_served() -> None:
    """curl, where there is one: it is no library of ours that speaks to itself."""
    async with target("fx", secure=True) as server:
        command = ["curl", "--silent", "--insecure", "--http2", "--data-binary", "@-"]
        result = await trio.run_process(
            [*command, f"https://127.0.0.1:{server.port}/length"],
            stdin=b"*" * 190_000,
            capture_stdout=True,
        )
        assert result.stdout == b"190000"


SENT_TWICE = (
    (("origin", "http://a"), ("origin", "http://b")),
    (("origin", "http://a"), ("x-between", ""), ("origin", "http://a")),
    (("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")),
    (("authorization", "a"), ("authorization", "b")),
    (("content-length", "0"), ("content-length", "0")),
)


@pytest.mark.parametrize("kind", ["fx", "stock"])
async def test_what_a_request_says_about_its_origin_it_says_once(kind: Kind) -> None:
    async with target(kind) as server:
        async with await server.http2() as client:
            await client.begin()
            for fields in SENT_TWICE:
                answer = await client.answer(await client.ask("/", "GET", *fields))
                assert answer.status == 400, fields
                once = await client.answer(await client.ask("/", "GET", fields[0]))
                assert (once.status, once.body) == (
                    400 if fields[0][0] == "host" else 200,
                    once.body,
                )
        for fields in SENT_TWICE[:4]:
            lines = "".join(f"{name.title()}: {value}\r\n" for name, value in fields)
            async with await server.http1() as plain:
                await plain.send(f"GET / HTTP/1.1\r\nHost: a\r\n{lines}\r\n".encode())
                assert (await plain.reply()).status == 400, fields
                assert await plain.is_closed()
