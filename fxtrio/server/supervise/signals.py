"""The signals that end or renew a server, without the moments in which they are lost or fatal.

Trio hands signals over only inside `trio.open_signal_receiver`. Before it opens, and
while the process ends after it closed, the default action would kill: a process
group and a supervisor send the same signal more than once.
"""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import trio

HANDLED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""SIGHUP stays ignored where it was when the process began: so ``nohup`` does."""


@contextmanager
def receive_signals(early: list[int]) -> Iterator[AsyncIterator[int]]:
    """Yield the signals of `HANDLED` as they come, those in ``early`` first.

    They are ignored once the block has ended, also while the interpreter ends: it
    would put back the default action of a signal that has a handler.
    """
    try:
        with trio.open_signal_receiver(*_heeded()) as signals:
            yield _chained(early, signals)
    finally:
        for number in HANDLED:
            signal.signal(number, signal.SIG_IGN)


def hold_signals() -> list[int]:
    """Only note the signals of `HANDLED` from now on; return the list they are noted in.

    For a process that serves and then ends: nothing puts the old handlers back.
    """
    noted: list[int] = []

    def note(number: int, frame: Any) -> None:
        noted.append(number)

    for number in _heeded():
        signal.signal(number, note)
    return noted


def hangup_is_ignored() -> bool:
    """Whether SIGHUP was ignored when the process started."""
    return signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def _heeded() -> list[signal.Signals]:
    ignored = hangup_is_ignored()
    return [number for number in HANDLED if number != signal.SIGHUP or not ignored]


async def _chained(early: list[int], signals: AsyncIterator[int]) -> AsyncIterator[int]:
    for number in early:
        yield number
    async for number in signals:
        yield number
