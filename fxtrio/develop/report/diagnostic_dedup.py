"""Problems for the terminal: each once, whichever check finds it. Called by the checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import attrs

from fxtrio.compile.problems import Problem


@attrs.define(eq=False)
class NewProblems:
    """The latest problems of the checks. Where two report one place, the first of them counts."""

    warn: Callable[[Problem], None]
    """Shows one in the terminal."""

    _found: dict[str, tuple[Problem, ...]] = attrs.field(factory=dict)
    """By check, in the order in which they came for the first time."""

    _reported: frozenset[Problem] = frozenset()

    def report(self, check: str, problems: Iterable[Problem]) -> None:
        """Take the problems that a check finds now, and report the new ones."""
        self._found[check] = tuple(problems)
        current: dict[Problem, None] = {}
        places: set[tuple[str, int, int]] = set()
        for found in self._found.values():
            new = [problem for problem in found if _place(problem) not in places]
            current |= dict.fromkeys(new)
            places |= set(map(_place, new))
        for problem in current:
            if problem not in self._reported:
                self.warn(problem)
        self._reported = frozenset(current)


def _place(problem: Problem) -> tuple[str, int, int]:
    return problem.path, problem.line, problem.column
