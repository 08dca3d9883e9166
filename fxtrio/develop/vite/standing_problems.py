"""The problems that Node shows in browsers, and which of them it has yet to get.

An order that carries them may fail before Node has taken them, or after that. So what Node has is
unknown while an order is on its way, and known again when it has succeeded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import attrs

from fxtrio.develop.report.overlay_errors import OverlayProblem


@attrs.define(eq=False)
class StandingProblems:
    """Those of one project, by who has found them."""

    _present: dict[str, list[OverlayProblem]] = attrs.field(factory=dict)
    _taken: dict[str, list[OverlayProblem] | None] = attrs.field(factory=dict)
    """What Node has; None where that is not known. It begins without problems."""

    def put(self, found: Mapping[str, list[OverlayProblem]]) -> None:
        """Replace what some have found before."""
        self._present |= found

    def begin(self) -> None:
        """Another Node has none."""
        self._taken.clear()

    @contextmanager
    def delivering(
        self, keys: Iterable[str] | None = None
    ) -> Iterator[dict[str, list[OverlayProblem]]]:
        """Give the problems that Node lacks: it has them when the block ends without an error.

        ``keys`` are those who have found them; None stands for all.
        """
        chosen = self._present if keys is None else keys
        lacking = {
            key: self._present[key]
            for key in chosen
            if self._taken.get(key, []) != self._present[key]
        }
        self._taken |= dict.fromkeys(lacking)
        yield lacking
        self._taken |= lacking
