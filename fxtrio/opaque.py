"""Records whose repr has nothing of what they hold."""

from __future__ import annotations

from typing import Any


class Opaque:
    """The first base of a record that holds much, or a secret: a whole site, documents, a nonce.

    Tracebacks with local variables, such as those of error trackers, contain the repr of each.
    """

    __slots__ = ()

    __repr__ = object.__repr__

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Return nothing, where msgspec would return each field.

        Rich asks for it in place of the repr, in its tracebacks, too.
        """
        return []
