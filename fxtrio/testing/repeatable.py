"""The same order of tasks each time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import trio._core._run


@contextmanager
def repeatable(seed: int = 0) -> Iterator[None]:
    """Let Trio's tasks run in an order that depends only on ``seed``, for the length of the block.

    Trio shuffles the tasks that can run, so that no code relies on their order; this seeds its
    shuffling, and Python's `random`. Put it around `trio.run`, or around a test. Each example of
    Hypothesis has this already, with a separate seed. Threads and other processes run in the
    order that the machine gives them.
    """
    # Private, and there is no other way: what Hypothesis does by the plugin of Trio itself.
    scheduler: Any = trio._core._run
    sorts, shuffles, others = (
        scheduler._ALLOW_DETERMINISTIC_SCHEDULING,
        scheduler._r.getstate(),
        random.getstate(),
    )
    scheduler._ALLOW_DETERMINISTIC_SCHEDULING = True
    scheduler._r.seed(seed)
    random.seed(seed)
    try:
        yield
    finally:
        scheduler._ALLOW_DETERMINISTIC_SCHEDULING = sorts
        scheduler._r.setstate(shuffles)
        random.setstate(others)
