"""The budget for what waits to be sent: who is counted, who is cut off, who waits."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from fxtrio.send_budget import GRACE, LIGHT, PATIENCE, PLACES, WAIT, Unread, Unsent
from fxtrio.send_budget.loop_clock import TICK
from fxtrio.send_budget.turns import SOON, LargePaths

MEGABYTE = 1_000_000


@attrs.define
class Clients:
    """Accounts of one budget, and which of them were cut off."""

    budget: Unsent
    cut: list[str] = attrs.field(factory=list)
    responses: dict[str, tuple[Unread, bool]] = attrs.field(factory=dict)
    """For whom a response is rendered, or rejected."""

    def new(self, name: str, size: int = MEGABYTE, *, address: str = "") -> Unread:
        """Return the unread of a client for which ``size`` bytes wait."""
        unread = Unread(address, self._noting(name), budget=self.budget)
        unread.hold(bytes(size))
        return unread

    def _noting(self, name: str) -> Callable[[], None]:
        return lambda: self.cut.append(name)


def clients(capacity: int = 3 * MEGABYTE) -> Clients:
    return Clients(Unsent(capacity))


async def test_what_several_clients_share_is_counted_once_and_until_the_last_has_it() -> None:
    budget = Unsent(10 * MEGABYTE)
    body = bytes(MEGABYTE)
    one, two = (Unread("", lambda: None, budget=budget) for _ in range(2))

    one.hold(body)
    two.hold(body)
    two.hold(body)
    assert (budget.used, one.unsent, two.unsent) == (MEGABYTE, MEGABYTE, 2 * MEGABYTE)
    two.release(body)
    one.clear()
    assert budget.used == MEGABYTE
    two.release(body)
    assert (budget.used, two.unsent) == (0, 0)


async def test_while_there_is_room_nobody_is_cut_off(autojump_clock: MockClock) -> None:
    found = clients()
    for number in range(3):
        found.new(str(number))
    await trio.sleep(300)
    found.budget.make_room()

    assert found.cut == []


async def test_a_full_budget_cuts_off_who_takes_nothing_and_never_who_reads(
    autojump_clock: MockClock,
) -> None:
    found = clients()
    found.new("stuck")
    reader = found.new("reader", 2 * MEGABYTE)
    await trio.sleep(GRACE)
    reader.taken = 2 * MEGABYTE
    found.new("young", 5 * MEGABYTE)

    assert found.cut == ["stuck"]
    assert found.budget.used == 7 * MEGABYTE


async def test_a_blocked_loop_is_not_held_against_clients(
    mock_clock: MockClock,
) -> None:
    found = clients()
    found.new("reader", 2 * MEGABYTE)
    mock_clock.jump(60)  # in which no task runs
    found.new("next", 2 * MEGABYTE)
    found.budget.make_room()
    assert found.cut == []

    await wait_all_tasks_blocked()
    mock_clock.jump(60)
    found.budget.make_room()
    assert found.cut == []


async def test_a_loop_that_always_lags_ends_the_grace_as_well(mock_clock: MockClock) -> None:
    found = clients()
    found.new("stuck", 4 * MEGABYTE)
    rounds = 0
    while not found.cut and rounds < 100:
        mock_clock.jump(1)
        await wait_all_tasks_blocked()
        found.budget.make_room()
        rounds += 1

    assert GRACE / (2 * TICK) <= rounds <= GRACE / (2 * TICK) + 1


async def test_the_clock_of_a_budget_needs_a_task_only_while_bytes_wait(
    autojump_clock: MockClock,
) -> None:
    idle = trio.lowlevel.current_statistics().tasks_living
    found = clients()
    unread = found.new("reader")
    await wait_all_tasks_blocked()
    assert trio.lowlevel.current_statistics().tasks_living == idle + 1
    await trio.sleep(10)
    assert trio.lowlevel.current_statistics().tasks_living == idle + 1
    unread.clear()
    await trio.sleep(2)
    assert trio.lowlevel.current_statistics().tasks_living == idle


async def test_who_would_keep_its_bytes_longest_goes_first(autojump_clock: MockClock) -> None:
    found = clients(4 * MEGABYTE)
    for name, taken in (("slow", 60_000), ("slowest", 2_000), ("faster", 200_000)):
        found.new(name).taken = taken
    await trio.sleep(PATIENCE)
    found.new("next", 1_200_000)

    assert found.cut == ["slowest"]


async def test_no_public_address_keeps_a_full_budget_for_itself(
    autojump_clock: MockClock,
) -> None:
    found = clients(4 * MEGABYTE)
    for number in range(3):  # which read, and have more at once
        found.new(f"many {number}", address="192.0.2.1").taken = 10 * MEGABYTE
    found.new("one", 900_000, address="192.0.2.2").taken = 10 * MEGABYTE
    await trio.sleep(GRACE)
    found.new("next", 300_000)

    assert {name[:4] for name in found.cut} == {"many"}


async def test_one_response_larger_than_the_budget_is_left_to_whoever_reads_it(
    autojump_clock: MockClock,
) -> None:
    found = clients()
    found.new("large", 9 * MEGABYTE, address="192.0.2.1").taken = 9 * MEGABYTE
    await trio.sleep(2 * GRACE)
    found.budget.make_room()

    assert found.cut == []


async def test_new_responses_wait_until_bytes_are_sent(autojump_clock: MockClock) -> None:
    found = clients()
    reader = found.new("reader", 4 * MEGABYTE)
    reader.taken = 100 * MEGABYTE

    async def read() -> None:
        await trio.sleep(3)
        reader.clear()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        assert await found.budget.wait_room()
    assert trio.current_time() == 3


async def test_new_responses_wait_for_slow_clients_only_until_these_are_cut_off(
    autojump_clock: MockClock,
) -> None:
    found = clients()
    found.new("stuck", 4 * MEGABYTE)

    assert await found.budget.wait_room()
    assert (found.cut, trio.current_time()) == (["stuck"], GRACE)


async def test_of_those_who_wait_the_newest_continues_first(autojump_clock: MockClock) -> None:
    found = clients()
    reader = found.new("reader", 4 * MEGABYTE)
    reader.taken = 100 * MEGABYTE
    order: list[int] = []

    async def ask(number: int) -> None:
        assert await found.budget.wait_room()
        order.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(9):
            nursery.start_soon(ask, number)
            await trio.sleep(0.001)
        reader.clear()
        await trio.sleep(0.001)
        assert sorted(order) == [5, 6, 7, 8]
    assert sorted(order) == list(range(9))


async def test_a_response_in_production_counts_for_no_client() -> None:
    budget = Unsent(MEGABYTE)
    with budget.reserving(2 * MEGABYTE):
        assert budget.is_full
        budget.make_room()
    assert (budget.used, budget.cut) == (0, 0)


async def read_for_ever(*readers: Unread) -> None:
    """Take as much as waits, again and again: at 2 MB a second each."""
    while True:
        for reader in readers:
            reader.taken += MEGABYTE
        await trio.sleep(0.5)


async def test_a_new_response_does_not_wait_forever(autojump_clock: MockClock) -> None:
    found = clients(10 * MEGABYTE)
    readers = [found.new(str(number)) for number in range(11)]

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read_for_ever, *readers)
        assert not await found.budget.wait_room()
        nursery.cancel_scope.cancel()
    assert (found.cut, trio.current_time()) == ([], WAIT)


async def test_who_reads_but_has_most_of_it_is_cut_off_when_others_have_waited_long(
    autojump_clock: MockClock,
) -> None:
    found = clients(10 * MEGABYTE)
    readers = [found.new("most", 9 * MEGABYTE), found.new("less", 2 * MEGABYTE)]

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read_for_ever, *readers)
        assert await found.budget.wait_room()
        nursery.cancel_scope.cancel()
    assert found.cut == ["most"]
    assert WAIT / 2 < trio.current_time() < WAIT / 2 + GRACE


async def ask(
    found: Clients, nursery: trio.Nursery, name: str, path: bytes = b"/", *, address: str = ""
) -> trio.Event:
    """Have a response rendered for a new client; it lasts until the event is set."""
    end = trio.Event()

    async def respond() -> None:
        client = Unread(address, lambda: found.cut.append(name), budget=found.budget)
        async with found.budget.turn(client, path) as admitted:
            found.responses[name] = (client, admitted)
            await end.wait()

    nursery.start_soon(respond)
    await wait_all_tasks_blocked()
    return end


async def test_small_responses_pass_a_full_budget_a_few_at_a_time(
    autojump_clock: MockClock,
) -> None:
    found = clients()
    found.budget.add(4 * MEGABYTE)
    async with trio.open_nursery() as nursery:
        ends = [await ask(found, nursery, str(number)) for number in range(PLACES + 2)]
        assert list(found.responses) == [str(number) for number in range(PLACES)]
        ends[3].set()
        await wait_all_tasks_blocked()
        assert list(found.responses)[PLACES:] == [str(PLACES + 1)]  # the newest
        assert trio.current_time() == 0
        await trio.sleep(2 * SOON)  # what takes so long and has sent nothing large is no danger
        assert len(found.responses) == PLACES + 2
        nursery.cancel_scope.cancel()
    assert found.cut == []


async def test_large_and_slow_ones_among_those_that_pass_make_place_for_others(
    autojump_clock: MockClock,
) -> None:
    found = clients()
    found.budget.add(4 * MEGABYTE)
    async with trio.open_nursery() as nursery:
        for number in range(PLACES):
            await ask(found, nursery, str(number))
            client, _ = found.responses[str(number)]
            client.hold(bytes(LIGHT + number + 1))
            client.taken = 10 * MEGABYTE  # in ten seconds it would have all
        await ask(found, nursery, "small")
        assert "small" not in found.responses
        await trio.sleep(2 * GRACE)
        assert found.responses["small"][1]
        nursery.cancel_scope.cancel()
    assert found.cut == [str(PLACES - 1)]  # which holds the most


async def test_no_public_address_has_all_places_of_those_that_pass(
    autojump_clock: MockClock,
) -> None:
    found = clients()
    found.budget.add(4 * MEGABYTE)
    async with trio.open_nursery() as nursery:
        for number in range(50 * PLACES):  # none of which ends
            await ask(found, nursery, f"many {number}", address="192.0.2.1")
        assert len(found.responses) == PLACES / 2
        for number in range(PLACES // 2 - 1):
            end = await ask(found, nursery, f"one {number}", address="192.0.2.2")
            assert found.responses[f"one {number}"][1]
        await ask(found, nursery, "last", address="192.0.2.3")
        await ask(found, nursery, "next", address="192.0.2.3")
        assert "last" in found.responses
        assert "next" not in found.responses
        end.set()  # is for who may have a place, though others have waited for longer
        await wait_all_tasks_blocked()
        assert found.responses["next"][1]
        assert trio.current_time() == 0
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("path", [b"/livez", b"/readyz", b"/healthz"])
async def test_whoever_watches_over_the_process_needs_no_turn(path: bytes) -> None:
    found = clients()
    found.budget.add(4 * MEGABYTE)
    async with trio.open_nursery() as nursery:
        for number in range(2 * PLACES):
            await ask(found, nursery, str(number))
        await ask(found, nursery, "probe", path)
        assert found.responses["probe"][1]
        nursery.cancel_scope.cancel()


async def test_no_public_address_has_room_for_a_response_in_production(
    autojump_clock: MockClock,
) -> None:
    budget = clients(4 * MEGABYTE).budget
    began: list[str] = []

    async def make(address: str, size: int) -> None:
        if await budget.wait_reserved(size, address):
            began.append(address)
            await trio.sleep(3)
            budget.unreserve(size, address)
        else:
            began.append(f"not {address}")

    async with trio.open_nursery() as nursery:
        for _ in range(12):
            nursery.start_soon(make, "192.0.2.1", MEGABYTE)
        await trio.sleep(1)
        assert began == ["192.0.2.1"] * 2
        nursery.start_soon(make, "192.0.2.2", MEGABYTE)
        nursery.start_soon(make, "", MEGABYTE)
        await wait_all_tasks_blocked()
        assert set(began[2:]) == {"192.0.2.2", ""}
        assert not budget.is_full
    assert began.count("192.0.2.1") == 8  # those that did not wait for too long
    assert began.count("not 192.0.2.1") == 4
    assert trio.current_time() == WAIT + 2
    assert (budget.used, len(budget._reserved)) == (0, 0)


async def test_one_response_larger_than_a_share_is_produced(autojump_clock: MockClock) -> None:
    budget = clients(4 * MEGABYTE).budget
    assert await budget.wait_reserved(9 * MEGABYTE, "192.0.2.1")
    assert trio.current_time() == 0
    budget.unreserve(9 * MEGABYTE, "192.0.2.1")
    assert budget.used == 0


async def test_what_was_large_before_waits_for_room(autojump_clock: MockClock) -> None:
    found = clients()
    found.budget.add(4 * MEGABYTE)
    found.budget.large_paths.note(b"/report?year=1")
    async with trio.open_nursery() as nursery:
        for number in range(6):
            await ask(found, nursery, str(number), b"/report?year=2")
        await ask(found, nursery, "other", b"/reports")
        assert list(found.responses) == ["other"]
        found.budget.remove(2 * MEGABYTE)
        await wait_all_tasks_blocked()
        # As many as may be made at once: what they add is not known yet.
        assert set(found.responses) == {"other", "5", "4", "3", "2"}  # the newest first
        await trio.sleep(2 * SOON)
        assert len(found.responses) == 7
        nursery.cancel_scope.cancel()


async def test_who_waits_for_room_leaves_its_place_to_others(autojump_clock: MockClock) -> None:
    found = clients()
    found.budget.add(4 * MEGABYTE)

    async def large() -> None:
        async with found.budget.turn(found.new("", 1), b"/"), trio.open_nursery() as inner:
            inner.start_soon(found.budget.wait_room)  # also in a task of its own

    async with trio.open_nursery() as nursery:
        for _ in range(PLACES):
            nursery.start_soon(large)
        await wait_all_tasks_blocked()
        await ask(found, nursery, "small")
        assert found.responses["small"][1]
        nursery.cancel_scope.cancel()


async def test_a_small_response_is_rejected_when_it_gets_no_turn(autojump_clock: MockClock) -> None:
    found = clients()
    found.budget.add(4 * MEGABYTE)
    async with trio.open_nursery() as nursery:
        for number in range(PLACES):
            await ask(found, nursery, str(number))
            client, _ = found.responses[str(number)]
            client.hold(bytes(LIGHT + 1))
            client._cut = lambda: None
            nursery.start_soon(hold_again, client)
        await ask(found, nursery, "small")
        await trio.sleep(WAIT + 1)
        assert found.responses["small"][1] is False
        nursery.cancel_scope.cancel()


async def hold_again(client: Unread) -> None:
    """Have something wait that is never old, as of one who reads fast."""
    while True:
        await trio.sleep(GRACE / 2)
        client.clear()
        client.hold(bytes(LIGHT + 1))


def test_the_sizes_of_paths_have_a_capacity() -> None:
    paths = LargePaths()
    for number in range(3000):
        paths.note(b"/%d" % number)
        paths.note(b"/often?%d" % number)
    assert b"/often" in paths and b"/2999?x" in paths and b"/1" not in paths


async def test_a_client_is_too_slow_below_a_rate_after_a_grace_period(
    autojump_clock: MockClock,
) -> None:
    unread = clients().new("trickling")
    found = []
    for _ in range(5):  # 200 bytes a second
        await trio.sleep(10)
        unread.taken += 2000
        found.append(unread.is_too_slow(trio.current_time(), grace=30, rate=1000))

    assert found == [False, False, False, True, True]
