"""What the runtime promises, under every order of steps and every fault that a seed chooses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fxtrio.testing.socket import SocketClosed, SocketRejected
from tests.short import amount

SEEDS = amount(200, short=20, long=500)
"""Of each test, beside those that have failed once: a minute for all of them on two cores.

`nox -s simulate` runs 100,000.
"""

PATIENT = 0.125
"""How often a test waits until every lease would have ended, though none has to (probability)."""


@contextmanager
def turned_away() -> Iterator[None]:
    """Let the app turn a WebSocket away in the block, which joins too slowly or at a shutdown."""
    try:
        yield
    except SocketRejected as rejected:
        if rejected.status != 403:  # before its handler has accepted
            raise
    except SocketClosed as closed:
        if closed.code != 1013:
            raise
