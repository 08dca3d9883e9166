"""Encodes large bodies in threads, so that they do not block the event loop."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple, Unpack

import trio

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_AT_ONCE = 64 * 1024
"""Smaller bodies hold the event loop for 3 ms at most (bytes)."""


class Threads:
    """Runs encoders in at most one thread per core."""

    def __init__(self) -> None:
        self._limiter = trio.CapacityLimiter(os.cpu_count() or 1)

    async def run(self, size: int, function: Callable[[Unpack[Ts]], T], *args: *Ts) -> T:
        """Return ``function(*args)``, which has to do with ``size`` bytes."""
        if size <= _AT_ONCE:
            return function(*args)
        return await trio.to_thread.run_sync(function, *args, limiter=self._limiter)
