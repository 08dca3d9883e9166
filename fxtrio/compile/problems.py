"""Problems of files, with their places: one shape for people, editors and the build."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import indent

import attrs

from fxtrio.compile.check.problem_kinds import SEVERITIES, FindingKind, Severity
from fxtrio.config.errors import ConfigProblem
from fxtrio.errors import SeveralProblems, display_path, sentence

_WIDEST = 120  # characters of a line that a frame shows


class CompileFailed(SeveralProblems[object]):
    """Page files have problems; ``problems`` holds all of them, by place."""


@attrs.frozen(order=True)
class Problem:
    """One mistake in one file. Sorts by place."""

    path: str
    """POSIX path relative to the project folder; see `placed`."""

    line: int
    """1-based; 0 when the path is a folder, or has no lines."""

    column: int
    """1-based, in characters; 0 like ``line``."""

    message: str
    """The cause, without a full stop."""

    remedy: str
    """What to do about it, without a full stop."""

    frame: str = attrs.field(default="", order=False)
    """The lines around a mistake of syntax, with a mark; "" for other mistakes."""

    kind: FindingKind = attrs.field(default=FindingKind.PAGES, order=False, eq=False)

    def __str__(self) -> str:
        """Return `head`, and the frame in lines of its own."""
        return f"{self.head}\n{indent(self.frame, '  ')}" if self.frame else self.head

    @property
    def severity(self) -> Severity:
        """Return how much it weighs, whoever tells it."""
        return SEVERITIES[self.kind]

    @property
    def head(self) -> str:
        """``path:line:column: message. Remedy.``"""
        place = f"{self.path}:{self.line}:{self.column}" if self.line else self.path
        return f"{place}: {self.text}"

    @property
    def text(self) -> str:
        """``message. Remedy.``"""
        return f"{self.message}. {sentence(self.remedy)}"


def frame_of(lines: Iterable[tuple[int, str]], line: int, column: int) -> str:
    """Return numbered ``lines``, with a mark below ``column`` (1-based) of ``line``.

    Long lines are cut to the part around the column.
    """
    width = len(str(line + 1))
    cut = column - _WIDEST // 2 if column > _WIDEST else 0
    column -= cut
    framed = []
    for number, whole in lines:
        content = whole[cut : cut + _WIDEST]
        framed.append(f"{number:{width}} | {content}")
        if number == line:
            before = "".join("\t" if char == "\t" else " " for char in content[: column - 1])
            framed.append(f"{'':{width}} | {before:<{column - 1}}^")
    return "\n".join(framed)


def of_kind(kind: FindingKind, problems: Iterable[Problem]) -> list[Problem]:
    """Return problems as those of a kind."""
    return [attrs.evolve(problem, kind=kind) for problem in problems]


def config_problems(
    problems: Iterable[ConfigProblem], kind: FindingKind = FindingKind.SETTINGS
) -> list[Problem]:
    """Return problems of settings in the same shape; their paths are already `placed`."""
    found = []
    for problem in problems:
        cause, _, remedy = problem.cause.rstrip(".").partition(". ")
        message = f"{problem.key} {cause}" if problem.key else cause
        place = problem.place, problem.line, problem.column
        found.append(Problem(*place, message, remedy or "Write another value", kind=kind))
    return found


def placed(problems: Iterable[Problem], root: Path) -> tuple[Problem, ...]:
    """Return problems of the project in ``root``, sorted, with their paths as messages name them.

    That is relative to the current folder when the project is below it.
    """
    return tuple(
        sorted(
            attrs.evolve(problem, path=display_path(root / problem.path)) for problem in problems
        )
    )


def in_paths(problems: Iterable[Problem], paths: Sequence[Path]) -> list[Problem]:
    """Return those problems, which are `placed`, that lie in files and folders."""
    wanted = [path.resolve() for path in paths]
    return [
        problem
        for problem in problems
        if any(Path(problem.path).resolve().is_relative_to(path) for path in wanted)
    ]


def format_text(problems: Iterable[Problem]) -> str:
    """Return a line for each problem, and its frame, by place; "" without any."""
    return "".join(f"{problem}\n" for problem in sorted(problems))


def format_json(problems: Iterable[Problem]) -> str:
    """Return ``{"problems": [{path, line, column, message, remedy, frame, kind, severity}]}``."""
    found = [
        {
            **attrs.asdict(problem),
            "kind": problem.kind.value,
            "severity": problem.severity.value,
        }
        for problem in sorted(problems)
    ]
    return json.dumps({"problems": found}) + "\n"


def read_json(text: bytes) -> list[Problem]:
    """Return what `format_json` has written. Raises ValueError, KeyError and TypeError."""
    found = json.loads(text)["problems"]
    for one in found:
        del one["severity"]
    return [Problem(**{**one, "kind": FindingKind(one["kind"])}) for one in found]
