"""Mistakes that the terminal tells: each once, whichever check finds it. Called by the checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import attrs

from fxtrio.compile.problems import Problem


@attrs.define(eq=False)
class ToldOnce:
    """What the checks have found last. Where two know of one place, the first of them tells."""

    warn: Callable[[Problem], None]
    """Shows one in the terminal."""

    _found: dict[str, tuple[Problem, ...]] = attrs.field(factory=dict)
    """By check, in the order in which they came for the first time."""

    _told: frozenset[Problem] = frozenset()

    def tell(self, check: str, problems: Iterable[Problem]) -> None:
        """Take what a check finds now, and tell what was not told before."""
        self._found[check] = tuple(problems)
        shown: dict[Problem, None] = {}
        places: set[tuple[str, int, int]] = set()
        for found in self._found.values():
            new = [problem for problem in found if _place(problem) not in places]
            shown |= dict.fromkeys(new)
            places |= set(map(_place, new))
        for problem in shown:
            if problem not in self._told:
                self.warn(problem)
        self._told = frozenset(shown)


def _place(problem: Problem) -> tuple[str, int, int]:
    return problem.path, problem.line, problem.column
