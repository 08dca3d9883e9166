"""Reads UI code of a page file, and finds where Python comes back. Called by `halves`.

UI code is read by `Scanner`, which stops at each line where a statement may begin. Python comes
back only with a statement that cannot be anything else.
"""

from __future__ import annotations

import ast

from fxtrio.compile.check.names import bindings
from fxtrio.compile.split import language_detection
from fxtrio.compile.split.known_statements import StatementReader
from fxtrio.compile.split.language_detection import Sign
from fxtrio.compile.split.python_reader import (
    broken,
    extent_at,
    past_indentation,
    rejected,
    rest_rejected,
    taken,
)
from fxtrio.compile.split.python_statements import Broken, parse
from fxtrio.compile.split.scanner import Scanner
from fxtrio.compile.split.walk import Half, Piece, Walk


class UiReader:
    """Reads the pieces of one file that begin as UI code."""

    def __init__(self, walk: Walk) -> None:
        self.scanner = Scanner(walk.source)
        self._reader = StatementReader(self.scanner)
        self.statements: list[tuple[int, int]] = []
        """Start and end of what may be a statement: a line that no operator continues."""

        self._walk = walk
        self._within_expression = False
        self._decorated_until = 0  # decorators in front of here are known to be UI code

    def begin(self, offset: int) -> None:
        """Begin UI code at ``offset``, behind Python."""
        self._within_expression = False
        self.scanner.restart(offset)

    def read(self, offset: int) -> Piece:
        """Return the piece at ``offset``, a line start at which a statement can begin."""
        walk = self._walk
        start = past_indentation(walk.text, offset)
        sign = self._sign(offset, start)
        # An indented line cannot begin a statement of Python; it is part of UI code, unless it
        # shows what only Python has (``Sign.PYTHON``), which is then reported.
        if sign is Sign.PYTHON or (sign is Sign.PERHAPS and start == offset):
            python = self._python(offset, start, sign)
            if python is not None:
                return python
        within = self._within_expression
        self.scanner.offset = offset
        stop = self._reader.next_line()
        end = len(walk.text) if stop is None else stop.offset
        self._within_expression = stop is not None and stop.within_expression
        walk.ui_names |= bindings.bound_by_ui(walk.text[offset:end])
        if not within:
            self.statements.append((offset, end))
        return Piece(end, Half.UI, Half.UI)

    def _sign(self, offset: int, start: int) -> Sign:
        """Say what the line at ``offset``, whose code begins at ``start``, looks like."""
        walk, within = self._walk, self._within_expression
        sign = Sign.UI
        if start >= self._decorated_until:
            sign = language_detection.python_sign(walk.text, start, within_expression=within)
            if sign is Sign.UI and walk.text.startswith("@", start):
                self._decorated_until = (
                    language_detection.decorated_class(walk.text, start) or start
                )
        if start == offset and not within and walk.alias_is_python(offset, after_ui=True):
            return Sign.PYTHON
        return sign

    def _python(self, offset: int, start: int, sign: Sign) -> Piece | None:
        """Return the piece of a statement of Python; None when the line is UI code after all."""
        walk = self._walk
        if walk.fixed:
            if sign is Sign.PERHAPS:
                return None
            remedy = "Move it above that line, or remove the line"
            message = "there is Python below the '# --- ui ---' line"
            end = rejected(walk, offset, message, remedy)
            self.scanner.restart(end)
            return Piece(end, Half.NEITHER, Half.UI)
        if start > offset:
            end = rejected(walk, offset, "Python is indented", "Start the statement in column 1")
            return Piece(end, Half.NEITHER, Half.PYTHON)
        extent = extent_at(walk, offset)
        parsed = parse(walk.text[offset : extent.end])
        if sign is Sign.PERHAPS and not self._is_python_value(parsed):
            walk.waste(extent.end - offset)
            return rest_rejected(walk, offset) if walk.exhausted else None
        if isinstance(parsed, Broken):
            return broken(walk, offset, parsed, extent)
        return taken(walk, bindings.names_of(parsed), extent)

    def _is_python_value(self, parsed: list[ast.stmt] | Broken) -> bool:
        if isinstance(parsed, Broken) or len(parsed) != 1:
            return False
        names = bindings.names_of(parsed)
        return (
            language_detection.is_literal_assignment(parsed[0])
            and not names.bound & self._walk.ui_names
        )
