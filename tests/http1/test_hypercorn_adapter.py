"""Our connection inside Hypercorn's own trio server."""

from __future__ import annotations

import re
from functools import partial

import hypercorn.trio.run
import pytest
import trio
from hypercorn.config import Config
from hypercorn.trio import serve

from fxtrio.server.http1 import ServerLimits
from fxtrio.server.hypercorn_patches.stock import StockWorkers, use_in_hypercorn

from .support import PATIENCE, Client, Lasting, echo

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


class LimitedConfig(Config):
    limits = ServerLimits(request_line=100, idle_time=60)


@pytest.fixture
def in_hypercorn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hypercorn.trio.run, "TCPServer", None)  # so that it is put back
    use_in_hypercorn()


async def test_hypercorn_serves_with_it_and_ends_with_idle_connections(in_hypercorn: None) -> None:
    assert vars(hypercorn.trio.run)["TCPServer"].__func__ is StockWorkers.connect
    config = LimitedConfig()
    config.bind = ["127.0.0.1:0"]
    config.errorlog = None
    config.graceful_timeout = 30
    stop = trio.Event()
    async with trio.open_nursery() as nursery:
        binds = await nursery.start(
            partial(serve, Lasting(echo), config, shutdown_trigger=stop.wait)
        )
        found = re.search(r":(\d+)$", binds[0])
        assert found is not None
        async with Client(await trio.open_tcp_stream("127.0.0.1", int(found[1]))) as client:
            await client.send(GET)
            assert (await client.reply()).status == 200
            async with Client(await trio.open_tcp_stream("127.0.0.1", int(found[1]))) as other:
                await other.send(b"GET /" + b"x" * 200 + b" HTTP/1.1\r\nHost: a\r\n\r\n")
                assert (await other.reply()).status == 414
            stop.set()
            with trio.fail_after(PATIENCE):
                assert await client.is_closed()
                while nursery.child_tasks:  # noqa: ASYNC110  # a nursery tells nobody
                    await trio.sleep(0.01)
