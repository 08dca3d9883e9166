"""The calls of agents that are under way: how many, and who may cancel one."""

from __future__ import annotations

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from fxtrio.plugins.mcp.calls import Calls


async def test_calls_with_one_number_count_as_several() -> None:
    calls = Calls(2)
    with calls.admit("", 1), calls.admit("", 1):
        with pytest.raises(trio.WouldBlock), calls.admit("", 1):
            pass
    with calls.admit("", 1), calls.admit("a", 1):
        pass


@pytest.mark.parametrize(
    ("caller", "canceller", "is_cancelled"),
    [("a", "a", True), ("a", "b", False), ("a", "", False), ("", "", False)],
)
async def test_a_call_is_cancelled_by_the_client_that_it_belongs_to(
    caller: str, canceller: str, is_cancelled: bool
) -> None:
    calls, scopes = Calls(2), []

    async def run() -> None:
        with calls.admit(caller, 7) as scope:
            scopes.append(scope)
            await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        await wait_all_tasks_blocked()
        calls.cancel(canceller, 7)
        assert scopes[0].cancel_called is is_cancelled
        nursery.cancel_scope.cancel()
