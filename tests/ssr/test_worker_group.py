"""Ends in quick succession make the pauses between workers longer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fxtrio.ssr.worker_group import choose_rest


def test_the_first_replacement_starts_at_once() -> None:
    assert choose_rest(1, ready=True) == choose_rest(1, ready=False) == 0


def test_a_series_of_ends_makes_the_pauses_longer_up_to_a_bound() -> None:
    rests = [choose_rest(series, ready=True) for series in range(1, 9)]
    assert rests == [0, 0.05, 0.1, 0.2, 0.4, 0.8, 0.8, 0.8]


def test_workers_that_do_not_come_up_are_tried_less_often() -> None:
    assert [choose_rest(series, ready=False) for series in (6, 7, 8, 9)] == [0.8, 1.6, 3.2, 5.0]


@given(st.integers(1, 10_000), st.booleans())
def test_no_pause_is_longer_than_five_seconds(series: int, ready: bool) -> None:
    assert 0 <= choose_rest(series, ready=ready) <= 5
