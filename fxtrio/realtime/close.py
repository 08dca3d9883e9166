"""Ends a WebSocket from outside of its handler, as when the session of its user is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import trio
from starlette.types import Scope

_KEY = "fx.ending"


class Ending:
    """The end of one WebSocket, for whoever has let it in. Made by `known_ending`.

    Valid until the socket is over; `end` does nothing after that.
    """

    def __init__(self) -> None:
        self.closing: tuple[int, str] | None = None
        """Close code and reason, as soon as somebody has ended it."""

        self._scope = trio.CancelScope()
        self._callbacks: list[Callable[[], None]] = []

    def end(self, code: int, reason: str) -> None:
        """Cancel the handler and close with ``code``. The first call counts; it never waits."""
        if self.closing is None:
            self.closing = code, reason
            self._scope.cancel()

    def when_over(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when the socket is over, however that comes."""
        self._callbacks.append(callback)

    @contextmanager
    def _watching(self) -> Iterator[None]:
        try:
            with self._scope:
                yield
        finally:
            for callback in self._callbacks:
                callback()
            self._callbacks.clear()


@contextmanager
def known_ending(scope: Scope) -> Iterator[Ending]:
    """Let `find_ending` find how to end the WebSocket of ``scope`` within the block.

    The block is cancelled when somebody does, and goes on behind it.
    """
    ending = scope[_KEY] = Ending()
    try:
        with ending._watching():
            yield ending
    finally:
        del scope[_KEY]


def find_ending(scope: Scope) -> Ending | None:
    """Return how to end a WebSocket, if it is served by an app of ours."""
    ending: Ending | None = scope.get(_KEY)
    return ending
