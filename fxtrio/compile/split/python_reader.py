"""Reads Python statements of a page file with Python's own parser. Called by `halves`.

A statement is Python unless it cannot be parsed, or what it means as Python makes no sense:
UI code that is valid Python is rare, and nearly always short.
"""

from __future__ import annotations

import re

from fxtrio.compile.check.names import bindings
from fxtrio.compile.check.names.bindings import Names
from fxtrio.compile.split import language_detection
from fxtrio.compile.split.language_detection import Sign
from fxtrio.compile.split.python_statements import MARKER, Broken, Extent, parse, statement
from fxtrio.compile.split.suggestions import broken_remedy
from fxtrio.compile.split.type_aliases import next_alias
from fxtrio.compile.split.walk import AMBIGUOUS, MOST_PROBLEMS, Half, Piece, Walk

# Characters of a broken statement in which signs of JavaScript are looked for. An unclosed bracket
# makes the rest of the file one statement, which is looked at again from each of its lines.
_SEARCHED = 2000
_AT_ONCE = 20_000  # characters of Python; larger trees cost garbage collection
# Where Python can be cut; in a string, say, it cannot, and the piece in front does not parse.
_BOUNDARY = re.compile(r"(?m)^(?:@|(?:def|class|async|import|from)[ \t]|\w++[ \t]*+[=(.])")
_INDENTATION = re.compile(r"[ \t]*+")
_LINE_IN_MESSAGE = re.compile(r"\bline (\d+)")


class PythonReader:
    """Reads the pieces of one file that begin as Python."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._next_ui_line = -1  # the next line that looks like UI code; found once, then passed
        self._at_once_from = 0  # from here on, Python has not been read at once

    def read(self, offset: int) -> Piece:
        """Return the piece at ``offset``, the start of a line with code."""
        return self._read_many(offset) or self._read_one(offset)

    def _read_many(self, offset: int) -> Piece | None:
        """Read what comes before the next line that looks like UI code; None when that fails.

        This is `_read_one` for the usual case, and several times as fast: one call of the
        parser for hundreds of lines. If the piece does not parse, `_read_one` reads statement
        by statement up to its end, and only then the next piece is tried: a piece that is tried
        again from each of its statements would be read many times.
        """
        if offset < self._at_once_from:
            return None
        walk = self._walk
        end = self._end_of_many(offset)
        if end == offset:
            return None
        piece = walk.text[offset:end]
        # A semicolon may end a statement of JavaScript that reads as Python, such as ``x = 1;``:
        # the parser does not report it, and `_read_one` looks at each.
        parsed = [] if ";" in piece or walk.exhausted else parse(piece)
        if isinstance(parsed, Broken) or not parsed:
            walk.waste(len(piece))
            return None
        first = walk.source.line_of(offset)
        for node in parsed:
            names = bindings.names_of([node])
            if not walk.fixed and isinstance(node, AMBIGUOUS):
                start = walk.source.line_starts[first + node.lineno - 2]
                if walk.means_ui([node], names, start, ended=False):
                    return Piece(start, Half.PYTHON, Half.UI)
            walk.python_names |= names.bound
        return Piece(end, Half.PYTHON, Half.PYTHON)

    def _end_of_many(self, offset: int) -> int:
        """Return up to where the text may be read at once; ``offset`` when it may not."""
        walk, text = self._walk, self._walk.text
        if self._next_ui_line < offset:
            self._next_ui_line = language_detection.next_ui_line(text, offset)
        end = self._next_ui_line
        if not walk.fixed:
            end = next_alias(text, offset, end)
        if end == offset:
            return offset
        boundary = _BOUNDARY.search(text, min(offset + _AT_ONCE, end), end)
        end = self._at_once_from = end if boundary is None else boundary.start()
        marker = MARKER.search(text, offset, end)
        return end if marker is None else marker.start()

    def _read_one(self, offset: int) -> Piece:
        walk = self._walk
        start = past_indentation(walk.text, offset)
        if not walk.fixed and language_detection.starts_ui(walk.text, start):
            return Piece(offset, Half.NEITHER, Half.UI)
        if start > offset:
            end = rejected(
                walk, offset, "unexpected indentation", "Start the statement in column 1"
            )
            return Piece(end, Half.NEITHER, Half.PYTHON)
        if walk.alias_is_python(offset, after_ui=False) is False:
            return Piece(offset, Half.NEITHER, Half.UI)
        extent = extent_at(walk, offset)
        parsed = parse(walk.text[offset : extent.end])
        if isinstance(parsed, Broken):
            # Python comes first, and UI code only where it fails: the reverse would need a grammar
            # of JavaScript here, and Python's own parser is the judge of what Python is.
            walk.waste(extent.end - offset)
            if walk.exhausted or len(walk.problems) >= MOST_PROBLEMS:
                return rest_rejected(walk, offset)
            if not walk.fixed and _is_ui(walk, offset, extent):
                return Piece(offset, Half.NEITHER, Half.UI)
            return broken(walk, offset, parsed, extent)
        names = bindings.names_of(parsed)
        if not walk.fixed and walk.means_ui(parsed, names, offset, ended=extent.last == ";"):
            return Piece(offset, Half.NEITHER, Half.UI)
        return taken(walk, names, extent)


def _is_ui(walk: Walk, offset: int, extent: Extent) -> bool:
    """Whether a statement that Python cannot parse is UI code."""
    text = walk.text
    if language_detection.python_sign(text, offset, within_expression=False) is Sign.PYTHON:
        return False
    name = language_detection.first_name(text, offset)
    if name in walk.ui_names - walk.python_names or name in language_detection.BROWSER_NAMES:
        return True
    cut = extent.end - offset > _SEARCHED
    # The dot: where the text is cut, there is no end of a line.
    return language_detection.has_ui_token(
        text[offset : offset + _SEARCHED] + "." if cut else text[offset : extent.end]
    )


def past_indentation(text: str, offset: int) -> int:
    """Return the offset behind the spaces and tabs at ``offset``."""
    found = _INDENTATION.match(text, offset)
    return found.end() if found else offset


def extent_at(walk: Walk, offset: int) -> Extent:
    """Return the extent of the Python statement at ``offset``; it does not cross the switch."""
    extent = statement(walk.text, offset)
    if walk.switch is not None and offset < walk.switch < extent.end:
        return Extent(walk.switch, extent.last)
    return extent


def taken(walk: Walk, names: Names, extent: Extent) -> Piece:
    """Return the piece of a statement that parses, whose names the Python half has from now on."""
    walk.python_names |= names.bound
    return Piece(extent.end, Half.PYTHON, Half.PYTHON)


def broken(walk: Walk, offset: int, cause: Broken, extent: Extent) -> Piece:
    """Report a statement that does not parse, and leave it out with the indented lines below."""
    first = walk.source.line_of(offset)
    message = _LINE_IN_MESSAGE.sub(lambda found: f"line {int(found[1]) + first - 1}", cause.message)
    line = first + cause.line - 1
    remedy = broken_remedy(walk.source.line_text(line), cause.column, message)
    text = f"broken Python: {message.rstrip('.?')}"
    walk.problems.append(walk.source.syntax_problem(line, cause.column, text, remedy))
    end = language_detection.past_indented(walk.text, extent.end)
    return Piece(end, Half.NEITHER, Half.PYTHON)


def rejected(walk: Walk, offset: int, message: str, remedy: str) -> int:
    """Report the Python statement at ``offset``, which belongs to no half. Returns its end."""
    walk.report(past_indentation(walk.text, offset), message, remedy)
    return extent_at(walk, offset).end


def rest_rejected(walk: Walk, offset: int) -> Piece:
    """Leave out everything from ``offset`` on, and report that."""
    message = "from here on, too much reads neither as Python nor as client code"
    remedy = "Correct the problems above, or separate the halves with a line '# --- ui ---'"
    walk.report(offset, message, remedy)
    return Piece(len(walk.text), Half.NEITHER, Half.PYTHON)
