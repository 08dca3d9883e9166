"""State of splitting a page file: the names of its halves, and problems.

`halves` walks through the file. At each offset it asks the reader of the current language
(`python_reader`, `ui_reader`) for the `Piece` that begins there; the readers share one `Walk`.
"""

from __future__ import annotations

import ast
from enum import Enum
from typing import NamedTuple

from fxtrio.compile.check.names import bindings
from fxtrio.compile.check.names.bindings import Names
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText
from fxtrio.compile.split.language_detection import BROWSER_NAMES, first_name, starts_ui
from fxtrio.compile.split.python_statements import Broken, parse
from fxtrio.compile.split.type_aliases import Aliases, Side, is_alias

MOST_PROBLEMS = 500
"""Broken statements after which the rest of the file is not looked at (count)."""

# How often, on average, a character may be parsed without a result. Each attempt that fails may
# have read to the end of the file: without a budget a hostile file would cost quadratic time.
_WASTE = 4

AMBIGUOUS = (ast.Expr, ast.Assign, ast.AugAssign)
"""Statements of Python that JavaScript may have with the same text."""


class Half(Enum):
    """Where a piece belongs, or the language in which the walk goes on."""

    PYTHON = 0
    UI = 1
    NEITHER = 2


class Piece(NamedTuple):
    """A part of the file, from the offset that a reader was called with."""

    end: int
    """Offset behind it; that offset itself if nothing of this language begins there."""

    half: Half
    then: Half
    """The language that is read behind it."""


class Walk:
    """One walk through one file. ``switch`` is the offset of its ``# --- ui ---`` line, or None."""

    def __init__(self, source: SourceText, *, switch: int | None) -> None:
        self.source = source
        self.text = source.text
        self.switch = switch
        self.problems: list[Problem] = []
        self.python_names: set[str] = set()
        """Names that statements of the Python half have bound so far."""

        self.ui_names: set[str] = set()
        """Names that the UI half has bound so far."""

        self.aliases = Aliases(source.text)
        self._waste = _WASTE * len(source.text) + 10_000

    @property
    def fixed(self) -> bool:
        """Whether a ``# --- ui ---`` line says which language is where."""
        return self.switch is not None

    @property
    def exhausted(self) -> bool:
        """Whether too much was parsed without a result to go on."""
        return self._waste < 0

    def waste(self, characters: int) -> None:
        """Count characters that were parsed without a result."""
        self._waste -= characters

    def report(self, offset: int, message: str, remedy: str) -> None:
        """Add a problem at ``offset``."""
        self.problems.append(self.source.problem(offset, message, remedy))

    def means_ui(self, parsed: list[ast.stmt], names: Names, offset: int, *, ended: bool) -> bool:
        """Whether statements that Python can parse are meant as UI code.

        ``ended`` tells whether there is a semicolon behind them.
        """
        # JavaScript has no formatted strings: with one it is Python, whatever names it uses.
        if names.formats or not all(isinstance(node, AMBIGUOUS) for node in parsed):
            return False
        # The half whose names a statement uses is the one that it belongs to. If it uses names
        # of both, or one that both define, it stays where it is, and the doubt is reported.
        python = names.used & self.python_names
        ui = names.used & self.ui_names
        if python or ui:
            if python == ui:
                self._report_doubt(offset, min(python))
            return names.awaits or (bool(ui - python) and not python - ui)
        # A semicolon hardly ever ends a line of Python; it does where a constant is followed by
        # another one, ``WIDTH = 3; HEIGHT = 4``.
        if ended and not all(name.isupper() for name in names.bound or ("x",)):
            return True
        return names.awaits or bool(names.used & BROWSER_NAMES)

    def alias_is_python(self, offset: int, *, after_ui: bool) -> bool | None:
        """Whether the type alias at ``offset`` is Python, as far as its text says.

        Returns None where there is none. One that says nothing stays in the current language,
        and is reported.
        """
        if self.fixed or not is_alias(self.text, offset):
            return None
        side = self.aliases.side_at(offset, after_ui=after_ui)
        if side is Side.NOTHING:
            self._report_open_alias(offset)
        return not after_ui if side is Side.NOTHING else side is not Side.UI

    def check_ui_statement(self, start: int, end: int) -> None:
        """Report a UI statement that uses a name of the Python half and could be Python.

        Called when the whole file has been read, and with it all names of both halves.
        """
        chunk = self.text[start:end].rstrip()
        plain = first_name(chunk, 0) and not chunk.endswith(";")
        if not plain or is_alias(chunk, 0) or starts_ui(chunk, 0):
            return
        names = bindings.identifiers(chunk) & (self.python_names - self.ui_names)
        if not names:
            return
        parsed = parse(chunk)
        if isinstance(parsed, Broken) or not all(isinstance(node, AMBIGUOUS) for node in parsed):
            return
        shared = names & bindings.names_of(parsed).used
        if shared:
            self._report_doubt(start, min(shared))

    def check_aliases(self, python: list[str], ui: list[str]) -> None:
        """Report type aliases that were read as Python, and that only UI code uses."""
        for offset in self.aliases.unused(python, ui):
            self._report_open_alias(offset)

    def _report_open_alias(self, offset: int) -> None:
        message = "this reads as a type of Python and as one of TypeScript"
        remedy = "End it with ';' if it is TypeScript; else write '# --- ui ---' where JSX begins"
        self.report(offset, message, remedy)

    def _report_doubt(self, offset: int, name: str) -> None:
        message = f"this reads as Python and as JavaScript, and both may mean {name!r}"
        remedy = (
            "Move it above all client code if it is Python; end it with ';' if it is JavaScript"
        )
        self.report(offset, message, remedy)
