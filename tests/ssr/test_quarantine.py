"""What has cost two workers is not tried again for a while."""

from __future__ import annotations

from functools import partial

from fxtrio.ssr.errors import RenderCrashed, RenderTimeout
from fxtrio.ssr.quarantine import CAPACITY, TERM, Quarantine

crashed = partial(RenderCrashed, 1, "exited")
timed_out = partial(RenderTimeout, 1, 5.0)


def test_a_render_that_cost_two_workers_is_rejected_until_its_term_is_over() -> None:
    quarantine = Quarantine()
    assert not quarantine
    quarantine.add(1, b"state", 2, crashed, now=100)
    assert quarantine
    assert isinstance(quarantine.find(1, b"state", now=100), RenderCrashed)
    assert isinstance(quarantine.find(1, b"state", now=99.9 + TERM), RenderCrashed)
    assert quarantine.find(1, b"state", now=100 + TERM) is None
    assert not quarantine


def test_another_page_or_state_is_another_render() -> None:
    quarantine = Quarantine()
    quarantine.add(1, b"state", 2, crashed, now=0)
    assert quarantine.find(2, b"state", now=0) is None
    assert quarantine.find(1, b"other", now=0) is None


def test_a_render_that_cost_one_worker_may_try_once_more() -> None:
    quarantine = Quarantine()
    quarantine.add(1, b"state", 1, timed_out, now=0)
    assert quarantine.find(1, b"state", now=1) is None
    quarantine.add(1, b"state", 1, timed_out, now=2)
    assert isinstance(quarantine.find(1, b"state", now=3), RenderTimeout)


def test_a_worker_lost_long_ago_does_not_count() -> None:
    quarantine = Quarantine()
    quarantine.add(1, b"state", 1, timed_out, now=0)
    quarantine.add(1, b"state", 1, timed_out, now=TERM + 1)
    assert quarantine.find(1, b"state", now=TERM + 2) is None


def test_the_quarantine_has_a_capacity() -> None:
    quarantine = Quarantine()
    for number in range(CAPACITY + 1):
        quarantine.add(number, b"state", 2, crashed, now=0)
    assert quarantine.find(0, b"state", now=0) is None
    assert all(quarantine.find(number, b"state", now=0) for number in range(1, CAPACITY + 1))


def test_each_request_gets_an_error_of_its_own() -> None:
    quarantine = Quarantine()
    quarantine.add(1, b"state", 2, crashed, now=0)
    assert quarantine.find(1, b"state", now=0) is not quarantine.find(1, b"state", now=0)
