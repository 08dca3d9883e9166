"""How commands say how many there are of something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fxtrio.compile.problems import Problem


def counted(number: int, noun: str) -> str:
    """Return ``1 page``, ``2 pages``: the number and the noun, which takes an "s"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def counted_problems(problems: Collection[Problem]) -> str:
    """Return ``3 problems in 2 files (1 error, 2 warnings)``."""
    found = Counter(problem.severity for problem in problems)
    parts = [counted(found[one], one.value) for one in type(next(iter(found))) if found[one]]
    files = len({problem.path for problem in problems})
    where = f" in {counted(files, 'file')}" if files > 1 else ""
    return f"{counted(len(problems), 'problem')}{where} ({', '.join(parts)})"
