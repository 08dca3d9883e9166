"""Ends a WebSocket from outside of its handler, as when the session of its user is over."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

import trio
from starlette.types import Scope

_KEY = "fx.ending"


class Ending:
    """Closes one WebSocket from outside its handler. Created by `known_ending`.

    Valid until the socket is closed; `end` does nothing after that.
    """

    def __init__(self, asgi_scope: Scope) -> None:
        self.closing: tuple[int, str] | None = None
        """Close code and reason, once `end` was called."""

        self._asgi_scope = asgi_scope
        self._scope = trio.CancelScope()
        self._callbacks: list[Callable[[], None]] = []

    def end(self, code: int, reason: str) -> None:
        """Cancel the handler and close with ``code``. The first call counts; it never waits."""
        if self.closing is None:
            self.closing = code, reason
            self._scope.cancel()

    def when_over(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when the socket is closed, for whatever reason."""
        self._callbacks.append(callback)

    # Without a generator, which each WebSocket would pay for.
    def __enter__(self) -> Ending:
        self._asgi_scope[_KEY] = self
        self._scope.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        try:
            return self._scope.__exit__(kind, error, trace)
        finally:
            for callback in self._callbacks:
                callback()
            self._callbacks.clear()
            del self._asgi_scope[_KEY]


def known_ending(scope: Scope) -> Ending:
    """Return a block that registers an `Ending` for the WebSocket of ``scope`` while it lasts.

    Calling `Ending.end` cancels the block; execution continues after it.
    """
    return Ending(scope)


def find_ending(scope: Scope) -> Ending | None:
    """Return how to end a WebSocket, if it is served by an app of ours."""
    ending: Ending | None = scope.get(_KEY)
    return ending
