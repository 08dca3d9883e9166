"""Threads of the framework's own work: a bounded number for each purpose.

Trio's default limiter belongs to the application: whatever holds all of its threads, such as
calls to a mail server that does not answer, holds up no file, no body and no log. One purpose
cannot hold up another either.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import trio

Purpose = Literal["accounts", "calls", "files", "names", "processes", "reports", "spool"]

MOST: Mapping[Purpose, int] = MappingProxyType(
    {
        "accounts": 2,  # the file of former accounts, and the first hash
        "calls": 40,  # plain functions of the application, see `fxtrio.callables`
        "files": 16,  # files of responses; a disk answers sooner than a network
        "names": 4,  # host names of databases and brokers
        "processes": 4,  # the start and the end of processes and of the asyncio loop
        "reports": 1,  # the function that gets defects, which may block for ever
        "spool": 8,  # bodies that are written to the disk, and read from there
    }
)
"""Threads at a time, by purpose; more work waits for its turn (count)."""

_limiters: trio.lowlevel.RunVar[dict[Purpose, trio.CapacityLimiter]] = trio.lowlevel.RunVar(
    "fx-threads"
)


def limiter_of(purpose: Purpose) -> trio.CapacityLimiter:
    """Return the limiter of a purpose in this trio run, which every app in it shares."""
    try:
        limiters = _limiters.get()
    except LookupError:
        limiters = {}
        _limiters.set(limiters)
    limiter = limiters.get(purpose)
    if limiter is None:
        limiter = limiters[purpose] = trio.CapacityLimiter(MOST[purpose])
    return limiter
