"""Walks through a page file statement by statement, and assigns each to a half. Called by `halves`.

The file starts as Python. UI begins where a statement can only be UI; from there
on Python comes back only with a statement that cannot be anything else. What
reads as both is decided by the names it uses, and reported where they do not tell.

Neither language can be skipped without reading it: a string of Python may hold UI code, and JSX
may hold lines of Python. So there is one offset, `Splitter._offset`, behind which everything is
assigned. Python statements are read here with Python's own parser; UI code is read by `Scanner`,
which stops at each line where a statement may begin, and goes on from the offset that it gets.
"""

from __future__ import annotations

import ast
import re
from enum import Enum

from fxtrio.compile.check.names import bindings
from fxtrio.compile.check.names.bindings import Names
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText
from fxtrio.compile.split import language_detection
from fxtrio.compile.split.language_detection import Sign
from fxtrio.compile.split.python_statements import (
    MARKER,
    Broken,
    Extent,
    parse,
    skip_blank,
    statement,
)
from fxtrio.compile.split.scanner import Scanner
from fxtrio.compile.split.suggestions import broken_remedy
from fxtrio.compile.split.type_aliases import Aliases, Side, is_alias, next_alias

# Characters of a broken statement in which signs of JavaScript are looked for. An unclosed bracket
# makes the rest of the file one statement, which is looked at again from each of its lines.
_SEARCHED = 2000
# How often, on average, a character may be parsed without a result. Each attempt that fails may
# have read to the end of the file: without a budget a hostile file would cost quadratic time.
_WASTE = 4
_MOST_PROBLEMS = 500  # broken statements after which the rest of the file is not looked at
_AT_ONCE = 20_000  # characters of Python; larger trees cost garbage collection
# Where Python can be cut; in a string, say, it cannot, and the piece in front does not parse.
_BOUNDARY = re.compile(r"(?m)^(?:@|(?:def|class|async|import|from)[ \t]|\w++[ \t]*+[=(.])")
_INDENTATION = re.compile(r"[ \t]*+")
_LINE_IN_MESSAGE = re.compile(r"\bline (\d+)")
_BOTH = (ast.Expr, ast.Assign, ast.AugAssign)


class _Half(Enum):
    PYTHON = 0
    UI = 1
    NEITHER = 2


class Splitter:
    """One walk through one file. `run` it, then `finish` it.

    ``switch`` is the offset of the ``# --- ui ---`` line that divides the file, or None.
    """

    def __init__(self, source: SourceText, *, switch: int | None) -> None:
        self.python: list[str] = []
        self.ui: list[str] = []
        self.scanner = Scanner(source)
        self._source = source
        self._text = source.text
        self._switch = switch
        self._offset = 0
        self._half = _Half.PYTHON
        self._within_expression = False
        self._next_ui_line = -1  # the next line that looks like UI code; found once, then passed
        self._at_once_from = 0  # from here on, Python has not been read at once
        self._decorated_until = 0  # decorators in front of here are known to be UI code
        self._problems: list[Problem] = []
        self._python_names: set[str] = set()
        self._ui_names: set[str] = set()
        self._ui_statements: list[tuple[int, int]] = []
        self._aliases = Aliases(self._text)
        self._waste = _WASTE * len(self._text) + 10_000

    def run(self) -> int | None:
        """Walk to the end. Returns the offset of a ``# --- ui ---`` line that was not foreseen."""
        while self._offset < len(self._text):
            start = skip_blank(self._text, self._offset)
            if start > self._offset:
                self._give(start, _Half.PYTHON)
            elif MARKER.match(self._text, self._offset) and self._offset != self._switch:
                if self._switch is None:
                    return self._offset
                self._refuse_statement("there is a second '# --- ui ---' line", "Remove it")
            elif self._offset == self._switch:
                self._give(self._source.line_end(self._offset), _Half.NEITHER)
                self._begin_ui()
            elif self._half is _Half.UI:
                self._read_ui()
            elif not self._read_python_at_once():
                self._read_python()
        return None

    def finish(self) -> list[Problem]:
        """Return the problems of the whole file."""
        if self._switch is None:
            for start, end in self._ui_statements:
                if len(self._problems) < _MOST_PROBLEMS:
                    self._check_doubtful(start, end)
            for offset in self._aliases.unused(self.python, self.ui):
                self._report_open(offset)
        return [*self._problems, *self.scanner.problems]

    def _read_python_at_once(self) -> bool:
        """Read what comes before the next line that looks like UI code; False when that fails.

        This is `_read_python` for the usual case, and several times as fast: one call of the
        parser for hundreds of lines. If the piece does not parse, `_read_python` reads statement
        by statement up to its end, and only then the next piece is tried: a piece that is tried
        again from each of its statements would be read many times.
        """
        if self._offset < self._at_once_from:
            return False
        if self._next_ui_line < self._offset:
            self._next_ui_line = language_detection.next_ui_line(self._text, self._offset)
        end = self._next_ui_line
        if self._switch is None:
            end = next_alias(self._text, self._offset, end)
        if end == self._offset:
            return False
        boundary = _BOUNDARY.search(self._text, min(self._offset + _AT_ONCE, end), end)
        end = self._at_once_from = end if boundary is None else boundary.start()
        marker = MARKER.search(self._text, self._offset, end)
        end = end if marker is None else marker.start()
        piece = self._text[self._offset : end]
        # A semicolon may end a statement of JavaScript that reads as Python, such as ``x = 1;``:
        # the parser does not report it, and `_read_python` looks at each.
        parsed = [] if ";" in piece or self._waste < 0 else parse(piece)
        if isinstance(parsed, Broken) or not parsed:
            self._waste -= len(piece)
            return False
        first = self._source.line_of(self._offset)
        for node in parsed:
            names = bindings.names_of([node])
            if self._switch is None and isinstance(node, _BOTH):
                start = self._source.line_starts[first + node.lineno - 2]
                if self._reads_as_ui([node], names, start, ended=False):
                    self._give(start, _Half.PYTHON)
                    self._begin_ui()
                    return True
            self._python_names |= names.bound
        self._give(end, _Half.PYTHON)
        return True

    def _read_python(self) -> None:
        start = self._after_indentation()
        fixed = self._switch is not None
        if not fixed and language_detection.starts_ui(self._text, start):
            self._begin_ui()
            return
        if start > self._offset:
            self._refuse_statement("unexpected indentation", "Start the statement in column 1")
            return
        if self._is_python_alias(after_ui=False) is False:
            self._begin_ui()
            return
        # From here on the statement is Python unless it cannot be parsed, or what it means as
        # Python makes no sense: UI code that is valid Python is rare, and nearly always short.
        extent = self._extent()
        parsed = parse(self._text[self._offset : extent.end])
        if isinstance(parsed, Broken):
            self._waste -= extent.end - self._offset
            if self._waste < 0 or len(self._problems) >= _MOST_PROBLEMS:
                self._refuse_rest()
            elif not fixed and self._is_ui(extent):
                self._begin_ui()
            else:
                self._refuse_broken(parsed, extent)
        else:
            names = bindings.names_of(parsed)
            if not fixed and self._reads_as_ui(
                parsed, names, self._offset, ended=extent.last == ";"
            ):
                self._begin_ui()
            else:
                self._take_python(names, extent)

    def _read_ui(self) -> None:
        start = self._after_indentation()
        within = self._within_expression
        sign = Sign.UI
        if start >= self._decorated_until:
            sign = language_detection.python_sign(self._text, start, within_expression=within)
            if sign is Sign.UI and self._text.startswith("@", start):
                self._decorated_until = (
                    language_detection.decorated_class(self._text, start) or start
                )
        if start == self._offset and not within and self._is_python_alias(after_ui=True):
            sign = Sign.PYTHON
        # An indented line cannot begin a statement of Python; it is part of UI code, unless it
        # shows what only Python has (``Sign.PYTHON``), which is then reported.
        candidate = sign is Sign.PYTHON or (sign is Sign.PERHAPS and start == self._offset)
        if candidate and self._resume_python(start, sign):
            return
        offset = self._offset
        self.scanner.offset = offset
        stop = self.scanner.next_line()
        end = len(self._text) if stop is None else stop.offset
        self._within_expression = stop is not None and stop.within_expression
        self._give(end, _Half.UI)
        self._ui_names |= bindings.bound_by_ui(self._text[offset:end])
        if not within:
            self._ui_statements.append((offset, end))

    def _resume_python(self, start: int, sign: Sign) -> bool:
        """Read Python that follows UI code; False when the line is UI code after all."""
        extent = self._extent()
        if self._switch is not None:
            if sign is Sign.PERHAPS:
                return False
            remedy = "Move it above that line, or remove the line"
            self._refuse_statement("there is Python below the '# --- ui ---' line", remedy)
            self.scanner.restart(self._offset)
            return True
        if start > self._offset:
            self._refuse_statement("Python is indented", "Start the statement in column 1")
            self._half = _Half.PYTHON
            return True
        parsed = parse(self._text[self._offset : extent.end])
        if sign is Sign.PERHAPS and not self._is_python_value(parsed):
            self._waste -= extent.end - self._offset
            if self._waste < 0:
                self._refuse_rest()
            return self._waste < 0
        if isinstance(parsed, Broken):
            self._refuse_broken(parsed, extent)
        else:
            self._take_python(bindings.names_of(parsed), extent)
        self._half = _Half.PYTHON
        return True

    def _is_python_alias(self, *, after_ui: bool) -> bool | None:
        """Whether the type alias here is Python, as far as it shows; None when there is none."""
        if self._switch is not None or not is_alias(self._text, self._offset):
            return None
        side = self._aliases.side_at(self._offset, after_ui=after_ui)
        if side is Side.NOTHING:
            self._report_open(self._offset)
        return not after_ui if side is Side.NOTHING else side is not Side.UI

    def _is_python_value(self, parsed: list[ast.stmt] | Broken) -> bool:
        if isinstance(parsed, Broken) or len(parsed) != 1:
            return False
        names = bindings.names_of(parsed)
        return (
            language_detection.is_literal_assignment(parsed[0]) and not names.bound & self._ui_names
        )

    def _is_ui(self, extent: Extent) -> bool:
        """Whether a statement that Python cannot parse is UI code."""
        text, offset = self._text, self._offset
        if language_detection.python_sign(text, offset, within_expression=False) is Sign.PYTHON:
            return False
        name = language_detection.first_name(text, offset)
        if name in self._ui_names - self._python_names or name in language_detection.BROWSER_NAMES:
            return True
        cut = extent.end - offset > _SEARCHED
        return language_detection.has_ui_token(
            text[offset : offset + _SEARCHED] + "." if cut else text[offset : extent.end]
        )

    def _reads_as_ui(
        self, parsed: list[ast.stmt], names: Names, offset: int, *, ended: bool
    ) -> bool:
        """Whether statements that Python can parse are meant as UI code.

        ``ended`` tells whether there is a semicolon behind them.
        """
        if names.formats or not all(isinstance(node, _BOTH) for node in parsed):
            return False
        # The half whose names a statement uses is the one that it belongs to. If it uses names
        # of both, or one that both define, it stays where it is, and the doubt is reported.
        python = names.used & self._python_names
        ui = names.used & self._ui_names
        if python or ui:
            if python == ui:
                self._report_doubt(offset, min(python))
            return names.awaits or (bool(ui - python) and not python - ui)
        # A semicolon hardly ever ends a line of Python; it does where a constant is followed by
        # another one, ``WIDTH = 3; HEIGHT = 4``.
        if ended and not all(name.isupper() for name in names.bound or ("x",)):
            return True
        return names.awaits or bool(names.used & language_detection.BROWSER_NAMES)

    def _check_doubtful(self, start: int, end: int) -> None:
        """Report a UI statement that uses a name of the Python half and could be Python."""
        chunk = self._text[start:end].rstrip()
        plain = language_detection.first_name(chunk, 0) and not chunk.endswith(";")
        if not plain or is_alias(chunk, 0) or language_detection.starts_ui(chunk, 0):
            return
        python_only = self._python_names - self._ui_names
        names = bindings.identifiers(chunk) & python_only
        if not names:
            return
        parsed = parse(chunk)
        if isinstance(parsed, Broken) or not all(isinstance(node, _BOTH) for node in parsed):
            return
        shared = names & bindings.names_of(parsed).used
        if shared:
            self._report_doubt(start, min(shared))

    def _extent(self) -> Extent:
        """Return the extent of the Python statement here; it does not cross the switch."""
        extent = statement(self._text, self._offset)
        if self._switch is not None and self._offset < self._switch < extent.end:
            return Extent(self._switch, extent.last)
        return extent

    def _take_python(self, names: Names, extent: Extent) -> None:
        self._python_names |= names.bound
        self._give(extent.end, _Half.PYTHON)

    def _begin_ui(self) -> None:
        self._half = _Half.UI
        self._within_expression = False
        self.scanner.restart(self._offset)

    def _after_indentation(self) -> int:
        found = _INDENTATION.match(self._text, self._offset)
        return found.end() if found else self._offset

    def _give(self, end: int, half: _Half) -> None:
        """Assign the text up to ``end`` to a half; the other half gets as many empty lines."""
        piece = self._text[self._offset : end]
        breaks = "\n" * piece.count("\n")
        self.python.append(piece if half is _Half.PYTHON else breaks)
        self.ui.append(piece if half is _Half.UI else breaks)
        self._offset = end

    def _refuse_statement(self, message: str, remedy: str) -> None:
        start = self._after_indentation()
        self._problems.append(self._source.problem(start, message, remedy))
        self._give(self._extent().end, _Half.NEITHER)

    def _refuse_broken(self, broken: Broken, extent: Extent) -> None:
        first = self._source.line_of(self._offset)
        message = _LINE_IN_MESSAGE.sub(
            lambda found: f"line {int(found[1]) + first - 1}", broken.message
        )
        line = first + broken.line - 1
        hint = broken_remedy(self._source.line_text(line), message)
        cause = f"broken Python: {message.rstrip('.?')}"
        remedy = hint or f"Correct the statement that starts in line {first}"
        problem = self._source.syntax_problem(line, broken.column, cause, remedy)
        self._problems.append(problem)
        self._give(language_detection.past_indented(self._text, extent.end), _Half.NEITHER)

    def _refuse_rest(self) -> None:
        message = "from here on, too much reads neither as Python nor as client code"
        remedy = "Correct the problems above, or divide the file with a line '# --- ui ---'"
        self._problems.append(self._source.problem(self._offset, message, remedy))
        self._give(len(self._text), _Half.NEITHER)

    def _report_open(self, offset: int) -> None:
        message = "this reads as a type of Python and as one of TypeScript"
        remedy = "End it with ';' if it is TypeScript; else write '# --- ui ---' where JSX begins"
        self._problems.append(self._source.problem(offset, message, remedy))

    def _report_doubt(self, offset: int, name: str) -> None:
        message = f"this reads as Python and as JavaScript, and both may mean {name!r}"
        remedy = (
            "Move it above all client code if it is Python; end it with ';' if it is JavaScript"
        )
        self._problems.append(self._source.problem(offset, message, remedy))
