"""Deletes jobs that ended long ago, in small batches, so that no other statement waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf

import trio

from fxtrio.jobs.store import PURGED, JobStore

_PURGE = 3600.0  # between two checks for old jobs, in seconds
_SHARE = 4  # the pause after a statement is this many times its duration


async def run_purge(store: JobStore, keep: Mapping[str, float], now: Callable[[], float]) -> None:
    """Delete jobs that ended longer ago than their state's ``keep`` (seconds), until cancelled."""
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
