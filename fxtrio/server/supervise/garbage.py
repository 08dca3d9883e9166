"""How often a process that serves looks for garbage. Imports nothing else of fxtrio."""

from __future__ import annotations

import gc

COLLECTIONS = (20_000, 0, 50)
"""Allocations before the youngest objects are looked at, and how often before older ones are.

Python's own 700 let a server that thousands of clients join look at all of their objects again
and again, each time without serving anybody. Requests make no cycles, so there is little to find.

With 0, what is alive at every second look is old from then on, and looked at again only when
everything is: after 2,000,000 allocations, if a quarter of all objects is new. A generation
between costs half a second of CPU time for 10,000 clients that come at once, in pauses of a tenth
of a second, and finds what the next full look finds as well.
"""


def collect_seldom() -> None:
    """Never look at what is there by now, and seldom at what comes."""
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)
