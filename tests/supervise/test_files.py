"""Few open files: how many connections fit, and who says so."""

from __future__ import annotations

import sys
from contextlib import AsyncExitStack

import pytest

from fxtrio.http1 import ServerLimits

from .support import serve

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.mark.parametrize(("files", "room"), [(64, 48), (128, 96), (1024, 896)])
async def test_what_the_system_grants_is_used_and_a_shortage_told(files: int, room: int) -> None:
    limit = f"import os, resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, ({files},) * 2)"
    wrap = (sys.executable, "-c", f"{limit}; os.execv(sys.argv[1], sys.argv[1:])")
    async with serve(wrap=wrap) as running, AsyncExitStack() as stack:
        await running.wait_for(
            rf"\[WARNING\] The system grants this process {files} open files, so {room} "
            r"connections fit, and not 10000. Raise the hard limit .* or lower limits.connections"
        )
        for _ in range(min(room, 60)):
            client = await stack.enter_async_context(await running.connect())
            await client.send(GET)
            assert (await client.reply()).status == 200
    assert "no connection can be accepted" not in running.log


async def test_nothing_is_told_where_all_connections_fit() -> None:
    async with serve(limits=ServerLimits(connections=50)) as running:
        assert (await running.get()).status == 200
    assert "WARNING" not in running.log
