"""Answers that clients leave unread: how much of them is in memory, and who is cut off for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from math import inf
from typing import Any

import pytest
import trio

from fxtrio.send_budget import process_unsent
from fxtrio.server.http1 import ServerLimits

from .rules import get
from .support import PATIENCE, Client, Server, open_server, response

ANSWER = 8_000_000  # more than the kernel's buffers take
CAPACITY = 4 * ANSWER


async def large(scope: Any, receive: Any, send: Any) -> None:
    """Answer with a body of this request's own, or a short one."""
    body = b"fine" if scope["path"] == "/next" else bytearray(ANSWER)
    await response(200, bytes(body))(scope, receive, send)


@asynccontextmanager
async def serving(
    monkeypatch: pytest.MonkeyPatch, limits: ServerLimits | None = None
) -> AsyncIterator[Server]:
    monkeypatch.setattr(process_unsent, "capacity", CAPACITY)
    with trio.fail_after(2 * PATIENCE):
        async with open_server(large, limits=limits) as server:
            yield server
    assert process_unsent.used == 0


async def ask(server: Server, stack: AsyncExitStack) -> Client:
    client = await stack.enter_async_context(await server.connect())
    await client.send(get())
    return client


async def settle(server: Server) -> None:
    """Wait until the server has begun all its answers."""
    async with await server.connect() as other:
        await other.send(get(target=b"/next"))
        assert (await other.reply()).body == b"fine"


async def test_what_waits_is_counted_whole_and_until_it_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving(monkeypatch) as server, AsyncExitStack() as stack:
        clients = [await ask(server, stack) for _ in range(3)]
        await settle(server)
        assert 3 * ANSWER <= process_unsent.used <= 3 * ANSWER + 3000
        for client in clients:
            assert len((await client.reply()).body) == ANSWER
        assert process_unsent.used == 0


async def test_clients_that_do_not_read_are_cut_off_when_the_budget_is_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = process_unsent.cut
    async with serving(monkeypatch) as server, AsyncExitStack() as stack:
        for _ in range(12):
            await ask(server, stack)
        reader = await ask(server, stack)
        assert len((await reader.reply()).body) == ANSWER
        await settle(server)
        assert process_unsent.cut > before
        # What is under way when the budget is full comes on top.
        assert process_unsent.used < CAPACITY + 3 * ANSWER


async def test_small_responses_wait_for_nobody_while_large_ones_fill_the_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # However long the machine takes to connect all of them, none counts as slow meanwhile.
    monkeypatch.setattr("fxtrio.send_budget.client_backlog.GRACE", inf)
    before = process_unsent.cut
    async with serving(monkeypatch) as server, AsyncExitStack() as stack:
        for _ in range(20):
            await ask(server, stack)
        for _ in range(3):
            await settle(server)
        assert process_unsent.is_full
        # As many as had begun when it was full; those behind them wait.
        assert (process_unsent.cut, process_unsent.used) == (before, CAPACITY + ANSWER)


TRUSTED = ("127.0.0.1", "10.0.0.0/8")


@pytest.mark.parametrize(
    ("trusted", "forwarded", "address"),
    [
        ((), b"1.2.3.4", ""),
        (TRUSTED, b"1.2.3.4", "1.2.3.4"),
        (TRUSTED, b"6.6.6.6, 1.2.3.4, 10.0.0.1", "1.2.3.4"),
        (TRUSTED, b"2a00:1450:4001::1", "2a00:1450:4001::/64"),
        (TRUSTED, b"10.0.0.1", ""),
        (TRUSTED, b"192.168.0.9", ""),
        (TRUSTED, b"nobody", ""),
    ],
)
async def test_what_waits_counts_for_the_client_that_a_trusted_proxy_reports(
    trusted: tuple[str, ...], forwarded: bytes, address: str
) -> None:
    async with open_server(large, trusted_proxies=trusted) as server, AsyncExitStack() as stack:
        client = await stack.enter_async_context(await server.connect())
        for named, counted in ((b"8.8.8.8", "8.8.8.8"), (forwarded, address)):
            await client.send(get(b"X-Forwarded-For: " + named))
            await settle(server)
            assert [one.address for one in process_unsent._holders] == [counted if trusted else ""]
            with trio.fail_after(PATIENCE):
                assert len((await client.reply()).body) == ANSWER


async def test_a_client_that_takes_less_than_the_slowest_rate_is_cut_off() -> None:
    ended = trio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await large(scope, receive, send)
        ended.set()

    limits = ServerLimits(write_stall=0.4, write_rate=1e9)
    async with open_server(app, limits=limits) as server, await server.connect() as client:
        client.stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 65536)
        await client.send(get())
        with trio.fail_after(PATIENCE), pytest.raises(trio.BrokenResourceError):
            while True:
                assert await client.stream.receive_some(10_000)
                await trio.sleep(0.002)
        await ended.wait()
