"""Chance and time of a run: seeded random bytes, and a calendar that follows the virtual clock.

Covered: `random`, `secrets`, `uuid.uuid4` and `os.urandom`; `time.time`, `datetime.now` and what
goes by them. Not covered: a `random.Random()` without a seed, generators of libraries in C,
`time.monotonic` and `time.perf_counter`: ask `world.clock` or `trio.current_time` in their place.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import attrs

from fxtrio.errors import ExtraMissing

START = datetime(2030, 1, 1, tzinfo=UTC).timestamp()
"""When each run begins (seconds since 1970)."""


@contextmanager
def seeded(seed: str) -> Iterator[None]:
    """Let all that Python itself draws depend on ``seed`` alone, for the block."""
    draw = random.Random(seed).randbytes
    module: Any = random
    state, urandom, of_random = random.getstate(), os.urandom, module._urandom
    random.seed(seed)
    os.urandom = module._urandom = draw
    try:
        yield
    finally:
        os.urandom, module._urandom = urandom, of_random
        random.setstate(state)


@attrs.define(eq=False)
class Calendar:
    """The time of day in a simulation. Created by `open_calendar`."""

    _coordinates: Any
    _now: float = START

    @property
    def time(self) -> float:
        """Seconds since 1970."""
        return self._now

    def move_to(self, time: float) -> None:
        """Let it be ``time``, in seconds since 1970."""
        if time != self._now:
            self._now = time
            self._coordinates.move_to(time)


@contextmanager
def open_calendar() -> Iterator[Calendar]:
    """Stop the time of day at `START` for the block. Raises ExtraMissing."""
    try:
        from time_machine import travel
    except ImportError as error:
        raise ExtraMissing("simulate", "test", "time-machine") from error
    with travel(START, tick=False) as coordinates:
        yield Calendar(coordinates)
