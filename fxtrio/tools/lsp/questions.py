"""Which questions are being answered: checks that nobody waits for come behind them."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import trio

LONGEST_WAIT = 1.0
"""How long a check waits for questions (seconds): one may wait for what a check finds."""


class Questions:
    """Counts questions."""

    def __init__(self) -> None:
        self._open = 0
        self._none = trio.Event()
        self._none.set()

    async def answer(self, answering: Coroutine[Any, Any, Any]) -> Any:
        """Return an answer; until then `wait_none` waits."""
        if self._open == 0:
            self._none = trio.Event()
        self._open += 1
        try:
            return await answering
        finally:
            self._open -= 1
            if self._open == 0:
                self._none.set()

    async def wait_none(self) -> None:
        """Wait until all questions are answered, for a while at most."""
        with trio.move_on_after(LONGEST_WAIT):
            while self._open:
                await self._none.wait()
