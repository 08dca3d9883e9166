"""Forgets jobs that ended long ago, some at a time, so that nobody waits for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf

import trio

from fxtrio.jobs.store import PURGED, JobStore

_PURGE = 3600.0  # between two looks for what is old, in seconds
_SHARE = 4  # times as long as a statement took is what others then have for theirs


async def run_purge(store: JobStore, keep: Mapping[str, float], now: Callable[[], float]) -> None:
    """Forget what ended in each state longer ago than ``keep`` says (seconds), until cancelled."""
    while True:
        for state, seconds in keep.items():
            if seconds < inf:
                await _purge(store, state, now() - seconds)
        await trio.sleep(_PURGE)


async def _purge(store: JobStore, state: str, before: float) -> None:
    while True:
        began = trio.current_time()
        if await store.purge(state, before) < PURGED:
            return
        await trio.sleep(_SHARE * (trio.current_time() - began))
