from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import pytest
import trio

from tests.tcp_proxy import Proxy, open_tcp_proxy

LIMIT = 30.0


async def echo(stream: trio.SocketStream) -> None:
    with suppress(trio.BrokenResourceError):
        async for data in stream:
            await stream.send_all(data)


@asynccontextmanager
async def open_echo() -> AsyncIterator[Proxy]:
    """Run a server that sends back what it gets, behind a proxy."""
    with trio.fail_after(LIMIT):
        async with trio.open_nursery() as nursery:
            serve = partial(trio.serve_tcp, echo, 0, host="127.0.0.1")
            listeners = await nursery.start(serve)
            port = listeners[0].socket.getsockname()[1]
            async with open_tcp_proxy(port) as proxy:
                yield proxy
            nursery.cancel_scope.cancel()


async def connect(proxy: Proxy) -> trio.SocketStream:
    stream = await trio.open_tcp_stream("127.0.0.1", proxy.port)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 400)
    return stream


async def says(stream: trio.SocketStream, text: bytes = b"hello") -> bytes:
    """Return what comes back; nothing when the connection ends or nothing comes in a while."""
    with trio.move_on_after(0.2):
        await stream.send_all(text)
        return bytes(await stream.receive_some())
    return b"(silence)"


async def says_on_a_new_connection(proxy: Proxy) -> bytes:
    async with await connect(proxy) as stream:
        return await says(stream)


async def test_passes_data_and_ends_on_both_ways() -> None:
    async with open_echo() as proxy, await connect(proxy) as stream:
        assert await says(stream) == b"hello"
        await stream.send_eof()
        assert await stream.receive_some() == b""


async def test_a_frozen_connection_stays_silent_and_new_ones_work() -> None:
    async with open_echo() as proxy, await connect(proxy) as stream:
        assert await says(stream) == b"hello"
        proxy.freeze()
        assert await says(stream) == b"(silence)"
        assert await says_on_a_new_connection(proxy) == b"hello"
        assert await says(stream) == b"(silence)"


async def test_new_connections_are_frozen_until_it_is_restored() -> None:
    async with open_echo() as proxy:
        proxy.freeze(new=True)
        assert await says_on_a_new_connection(proxy) == b"(silence)"
        proxy.restore()
        assert await says_on_a_new_connection(proxy) == b"hello"


async def test_a_dropped_connection_times_out_in_the_kernel() -> None:
    async with open_echo() as proxy, await connect(proxy) as stream:
        assert await says(stream) == b"hello"
        proxy.drop()
        assert await says_on_a_new_connection(proxy) == b"hello"
        with pytest.raises(trio.BrokenResourceError) as caught:
            await stream.send_all(b"hello")
            await stream.receive_some()
        assert isinstance(caught.value.__cause__, TimeoutError)


async def test_dropped_attempts_to_connect_are_not_answered() -> None:
    async with open_echo() as proxy:
        proxy.drop(new=True)
        with trio.move_on_after(0.2) as scope:
            await says_on_a_new_connection(proxy)
        assert scope.cancelled_caught
        proxy.restore()
        assert await says_on_a_new_connection(proxy) == b"hello"


async def test_resets_open_and_new_connections() -> None:
    async with open_echo() as proxy, await connect(proxy) as stream:
        assert await says(stream) == b"hello"
        proxy.reset(new=True)
        with pytest.raises(trio.BrokenResourceError):
            await stream.receive_some()
        with pytest.raises((trio.BrokenResourceError, OSError)):
            await says_on_a_new_connection(proxy)


async def test_half_closed_the_client_sees_an_end_and_may_still_send() -> None:
    async with open_echo() as proxy, await connect(proxy) as stream:
        assert await says(stream) == b"hello"
        proxy.half_close()
        assert await says(stream) == b""
        assert await says(stream) == b""


async def test_half_closed_towards_the_server_the_client_sees_nothing() -> None:
    async with open_echo() as proxy, await connect(proxy) as stream:
        assert await says(stream) == b"hello"
        proxy.half_close(toward="server")
        assert await says(stream) == b"(silence)"


async def test_data_that_is_held_comes_later() -> None:
    async with open_echo() as proxy, await connect(proxy) as stream:
        proxy.hold()
        assert await says(stream) == b"(silence)"
        proxy.restore()
        assert await stream.receive_some() == b"hello"


async def test_delayed_data_comes_later() -> None:
    async with open_echo() as proxy, await connect(proxy) as stream:
        proxy.delay = 0.2
        assert await says(stream) == b"(silence)"
        assert await stream.receive_some() == b"hello"


async def test_a_server_that_does_not_run_resets() -> None:
    async with open_tcp_proxy("/nonexistent") as proxy:
        with pytest.raises((trio.BrokenResourceError, OSError)):
            await says_on_a_new_connection(proxy)
