"""Whom bytes wait for, as the budget and its turns see them."""

from __future__ import annotations

from typing import Protocol


class Holder(Protocol):
    """A client for which bytes wait. Hashable by identity."""

    @property
    def address(self) -> str:
        """The network of its public address; "" when that may stand for many clients."""
        ...

    @property
    def unsent(self) -> int:
        """How many bytes wait for it."""
        ...

    def time_left(self, now: float) -> float:
        """Return how long it will need for them at its pace; 0 while that is not known yet."""
        ...

    def cut_off(self) -> None:
        """Give up on it, and release what waits. Never waits."""
        ...
