"""Libraries that the guide names: cancelled calls leave nothing behind."""

from __future__ import annotations

import pytest

from benchmarks.libraries.cancelled import cancel
from benchmarks.libraries.known import LIBRARIES, missing
from tests.short import amount

CALLS = amount(250, long=1000)


@pytest.mark.parametrize("name", ["httpx", "coredis", "aiosqlite"])
async def test_calls_that_were_cancelled_leave_nothing(name: str) -> None:
    assert missing(name) == ""
    before, after, _ = await cancel(LIBRARIES[name], CALLS)
    assert not after.exceeds(before), (before, after)
