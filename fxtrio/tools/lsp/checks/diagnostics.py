"""Problems as editors show them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

import attrs
from lsprotocol import types

from fxtrio.compile.check.problem_kinds import Severity
from fxtrio.compile.problems import Problem
from fxtrio.tools.lsp.documents.positions import Places, units

# The underlined part: a name or a number, text in quotes, or else one character.
_WORD = re.compile(r"@?[\w$]+|\"[^\"\n]*\"|'[^'\n]*'|.")


_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
}


def diagnostic_of(problem: Problem, places: Places) -> types.Diagnostic:
    """Return a problem of the text with ``places``, underlined from its column to the word's end.

    Its message is that of `fx check` without the place.
    """
    line = max(problem.line - 1, 0)
    content = places.line(line)
    column = min(max(problem.column - 1, 0), len(content))
    found = _WORD.match(content, column)
    end = found.end() if found else column
    return types.Diagnostic(
        types.Range(_position(line, content, column), _position(line, content, end)),
        message_of(problem),
        severity=_SEVERITIES[problem.severity],
        source="fx",
    )


def message_of(problem: Problem) -> str:
    """Return cause and remedy in one line, as `fx check` has them behind the place."""
    end = "" if problem.remedy.endswith("?") else "."
    return f"{problem.message}. {problem.remedy}{end}"


def moved(problems: Iterable[Problem], before: Places, now: Places) -> list[Problem]:
    """Return those problems of a text whose lines are still there after it was edited.

    A line counts from the start of the text, or from its end.
    """
    shift = now.count - before.count
    remaining = []
    for problem in problems:
        content = before.line(problem.line - 1)
        for line in dict.fromkeys((problem.line, problem.line + shift)):
            if line <= 1 or now.line(line - 1) == content:
                remaining.append(
                    problem
                    if line == problem.line
                    else attrs.evolve(problem, line=max(line, 0), frame="")
                )
                break
    return remaining


def _position(line: int, content: str, column: int) -> types.Position:
    return types.Position(line, units(content[:column]))
