"""How often a process that serves looks for garbage. Imports nothing else of fxtrio."""

from __future__ import annotations

import gc
import sys

COLLECTIONS = (20_000, 0 if sys.version_info < (3, 14) else 10, 10)
"""Allocations before the youngest objects are looked at, and how often before older ones are.

Python's own 700 let a server that thousands of clients join look at all of their objects again
and again, each time without serving anybody. Requests make no cycles, so there is little to find.

With 0, what is alive at every second look is old from then on, and looked at again only when
everything is: after 400,000 allocations, if a quarter of all objects is new. A generation between
looks at the objects of clients that come once more. In Python 3.14 the second number divides the
old objects that each look visits, so it stays as Python has it.
"""


def collect_seldom() -> None:
    """Never look at what is there by now, and seldom at what comes."""
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)
