"""What is wrong with a file, and where: one shape for people, editors and the build."""

from __future__ import annotations

import json
from collections.abc import Iterable

import attrs


@attrs.frozen(order=True)
class Problem:
    """One mistake in one file. Sorts by place."""

    path: str
    """POSIX path relative to the project folder."""

    line: int
    """1-based."""

    column: int
    """1-based, in characters."""

    message: str
    """What is wrong, without a full stop."""

    remedy: str
    """What to do about it, without a full stop."""

    def __str__(self) -> str:
        """Return ``path:line:column: message. Remedy.``"""
        return f"{self.path}:{self.line}:{self.column}: {self.message}. {self.remedy}."


def format_text(problems: Iterable[Problem]) -> str:
    """Return one line for each problem, by place; "" without any."""
    return "".join(f"{problem}\n" for problem in sorted(problems))


def format_json(problems: Iterable[Problem]) -> str:
    """Return ``{"problems": [{path, line, column, message, remedy}]}`` for editors."""
    return json.dumps({"problems": [attrs.asdict(problem) for problem in sorted(problems)]}) + "\n"
