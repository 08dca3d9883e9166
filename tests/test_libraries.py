"""Libraries that the guide names: a thousand cancelled calls leave nothing behind."""

from __future__ import annotations

import pytest

from benchmarks.libraries.cancelled import cancel
from benchmarks.libraries.known import LIBRARIES, missing


@pytest.mark.parametrize("name", ["httpx", "coredis", "aiosqlite"])
async def test_a_thousand_calls_that_were_cancelled_leave_nothing(name: str) -> None:
    assert missing(name) == ""
    before, after, _ = await cancel(LIBRARIES[name], 1000)
    assert not after.exceeds(before), (before, after)
