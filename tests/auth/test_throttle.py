"""Buckets of failures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.plugins.auth.throttle import (
    Bucket,
    account_key,
    charge,
    client_key,
    forgive,
)

ACCOUNT = Bucket("account", capacity=3, pause=10.0)
CLIENT = Bucket("client", capacity=5, pause=1.0)
NOW = 1_800_000_000.0


def test_as_many_attempts_as_the_bucket_holds_pass_at_once() -> None:
    marks: dict[str, float] = {}
    waits = []
    for _ in range(5):
        verdict = charge([ACCOUNT], marks, NOW)
        marks.update(verdict.marks)
        waits.append(verdict.wait)
    assert waits == [0, 0, 0, 10, 10]


def test_one_attempt_more_passes_after_each_pause() -> None:
    marks = {"account": NOW + 30}
    assert charge([ACCOUNT], marks, NOW + 9).wait == pytest.approx(1)
    verdict = charge([ACCOUNT], marks, NOW + 10)
    assert verdict.wait == 0
    assert charge([ACCOUNT], verdict.marks, NOW + 10).wait == 10


def test_every_bucket_must_have_room_and_a_rejected_attempt_is_not_counted() -> None:
    marks = {"account": NOW + 30, "client": NOW + 1}
    verdict = charge([ACCOUNT, CLIENT], marks, NOW)
    assert verdict.wait == 10
    assert verdict.marks == {}


def test_success_empties_the_account_and_gives_back_what_the_client_was_charged() -> None:
    before = {"client": NOW + 2}
    charged = charge([ACCOUNT, CLIENT], before, NOW).marks
    assert forgive(ACCOUNT, [CLIENT], charged, NOW) == {"account": 0.0, "client": NOW + 2}


def test_a_clock_that_was_set_back_locks_nobody_out_for_longer_than_a_full_bucket() -> None:
    then = NOW - 5
    rejected = charge([ACCOUNT], {"account": NOW + 30}, then)
    assert (rejected.wait, rejected.marks) == (10, {"account": then + 30})
    assert charge([ACCOUNT], rejected.marks, then + 10).wait == 0


@pytest.mark.parametrize("back", [15, 3600, 10 * 365 * 86400])
def test_a_mark_that_cannot_be_is_none(back: float) -> None:
    then = NOW - back
    assert charge([ACCOUNT], {"account": NOW + 30}, then).marks == {"account": then + 10}


@given(st.lists(st.floats(0, 40), max_size=60), st.integers(1, 5), st.floats(1, 20))
def test_never_more_attempts_than_promised_in_any_span_of_time(
    gaps: list[float], capacity: int, pause: float
) -> None:
    bucket = Bucket("b", capacity, pause)
    marks: dict[str, float] = {}
    now, passed = 0.0, []
    for gap in gaps:
        now += gap
        verdict = charge([bucket], marks, now)
        marks.update(verdict.marks)
        if not verdict.wait:
            passed.append(now)
    for first in range(len(passed)):
        for last in range(first, len(passed)):
            allowed = capacity + (passed[last] - passed[first]) / pause
            assert last - first + 1 <= allowed + 1e-3


@given(st.floats(0, 100), st.integers(1, 5), st.floats(1, 20))
def test_a_client_that_waits_for_retry_after_passes(
    mark: float, capacity: int, pause: float
) -> None:
    bucket = Bucket("b", capacity, pause)
    first = charge([bucket], {"b": mark}, 0.0)
    marks = {"b": mark, **first.marks} if first.wait else {"b": 0.0}
    assert charge([bucket], marks, first.wait).wait == 0


def test_addresses_are_stored_as_hashes() -> None:
    assert "ada" not in account_key("ada@example.org")
    assert account_key("ada@example.org") != account_key("grace@example.org")


@pytest.mark.parametrize(
    ("host", "key"),
    [
        ("203.0.113.5", "client:203.0.113.5"),
        ("::ffff:203.0.113.5", "client:203.0.113.5"),
        ("2001:db8:1:2:3:4:5:6", "client:2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::", "client:2001:db8:1:2::"),
        ("testclient", None),
        ("", None),
        (None, None),
    ],
)
def test_a_client_is_an_ipv4_address_or_an_ipv6_network(host: str | None, key: str | None) -> None:
    assert client_key(host) == key
