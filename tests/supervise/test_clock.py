"""A machine whose clock goes back: durations stay right, and delays are noticed."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest

from fxtrio.server.http1 import ServerLimits

from ..http2.client import Http2
from .support import lines, serve

BACKWARDS = """
import runpy, sys, time
began, since = time.time(), time.monotonic()
time.time = lambda: began - 1000 * (time.monotonic() - since)
sys.argv = sys.argv[3:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
"""Runs a module in a process whose time of day runs backwards, and fast."""

WRAP = (sys.executable, "-c", BACKWARDS)
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
LIMITS = ServerLimits(header_time=0.4, idle_time=0.4)


@pytest.mark.parametrize("workers", [1, 2])
async def test_durations_and_limits_do_not_ask_the_time_of_day(workers: int) -> None:
    options: dict[str, Any] = {"access_log": "json", "limits": LIMITS, "h2c": True}
    async with serve(wrap=WRAP, workers=workers, **options) as running:
        async with await running.connect() as client:
            await client.send(GET)
            reply = await client.reply()
            assert reply.status == 200
            assert re.fullmatch(rb"\w+, \d\d \w+ \d{4} [\d:]{8} GMT", reply.get(b"date") or b"")
            assert await client.is_closed()  # it has been idle for too long
        async with await running.connect() as plain:
            multiplexed = await Http2(plain.stream).begin()
            assert (await multiplexed.get()).status == 200
            assert (await multiplexed.get("/nowhere")).status == 404
            assert await multiplexed.wait_goodbye() == 0  # the same
        async with await running.connect() as client:
            await client.send(GET[:10])
            assert (await client.reply()).status == 408
        await running.wait_until(lambda: running.output.count("\n") == 3)
    assert [0 <= line["ms"] < 5000 for line in lines(running.output)] == [True] * 3


async def test_a_client_of_http2_that_leaves_is_noted_with_what_it_took() -> None:
    async with serve(wrap=WRAP, access_log="json", h2c=True) as running:
        async with await running.connect() as plain:
            client = await Http2(plain.stream).begin()
            await client.ask("/slow?seconds=30")
            await running.wait_for("slow request")
        await running.wait_until(lambda: running.output.count("\n") == 1)
    (line,) = lines(running.output)
    assert (line["status"], 0 <= line["ms"] < 5000) == (499, True)
