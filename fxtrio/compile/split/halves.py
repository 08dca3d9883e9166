"""A page file in, its Python half and its UI half out. No I/O.

Both halves keep every line: what belongs to the other half is an empty line, so
lines and columns are those of the file. The time is linear in the length.

The file starts as Python. UI begins where a statement can only be UI; from there
on Python comes back only with a statement that cannot be anything else. What
reads as both is decided by the names it uses, and reported where they do not tell.

Neither language can be skipped without reading it: a string of Python may hold UI code, and JSX
may hold lines of Python. So one offset moves through the file, in `_read`: in front of it
everything is assigned. The readers (`python_reader`, `ui_reader`) say what begins at it.
Called by `project`.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

import attrs

from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText, read_text
from fxtrio.compile.split.merge_conflicts import conflicts_in
from fxtrio.compile.split.python_reader import PythonReader, rejected
from fxtrio.compile.split.python_statements import MARKER, Broken, parse, skip_blank
from fxtrio.compile.split.ui_reader import UiReader
from fxtrio.compile.split.walk import MOST_PROBLEMS, Half, Piece, Walk

_EXPORTS_DEFAULT = re.compile(
    r"\bexport\s++default\b"
    r"|\bexport\s*+\{(?:\s*+default\b"
    r"|(?>(?:[^}ea]++|(?!\b(?:export|as\s++default)\b)[ea])*)\bas\s++default\b)"
)


@attrs.frozen
class Sections:
    """The halves of a page file, line for line."""

    python: str
    """Statements that do not parse stand in neither half, but in `problems`."""

    ui: str
    exports_default: bool
    """Whether the UI half has a default export."""

    problems: tuple[Problem, ...] = ()


def split(text: str, path: str) -> Sections:
    """Split the text of the page file ``path`` (for messages)."""
    return split_source(read_text(text, path))


def split_source(source: SourceText) -> Sections:
    """Split a page file.

    Without problems, every line is in exactly one half, or is blank or a comment.
    """
    return _split(source.text, source.path)


# An editor has a text formatted that it was just told of, and gets back what it then tells.
@lru_cache(maxsize=4)
def _split(text: str, path: str) -> Sections:
    source = read_text(text, path)
    nul = text.find("\0")
    if nul >= 0:
        blank = "\n" * text.count("\n")
        problem = source.problem(nul, "there is a NUL byte", "Save the file as text, in UTF-8")
        return Sections(blank, blank, exports_default=False, problems=(problem,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of code that is only looked at, such as "\d"
        splitting = _Splitting(source, switch=_switch(text))
        marker = splitting.run()
        if marker is not None:
            # A marker behind UI code. Above it lines were assigned by what they look like, which
            # a marker overrules: the file is read again, this time without guesses.
            splitting = _Splitting(source, switch=marker)
            splitting.run()
        sections = splitting.finish()
    # Git's markers are nonsense in both languages, and so are two versions of one statement: they
    # are reported in place of all that follows from them.
    if sections.problems and (conflicts := conflicts_in(source)):
        blank = "\n" * text.count("\n")
        return Sections(blank, blank, exports_default=False, problems=tuple(conflicts))
    return sections


class _Splitting:
    """One walk through one file. `run` it, then `finish` it.

    ``switch`` is the offset of the ``# --- ui ---`` line that divides the file, or None.
    """

    def __init__(self, source: SourceText, *, switch: int | None) -> None:
        self._walk = Walk(source, switch=switch)
        self._python_reader = PythonReader(self._walk)
        self._ui_reader = UiReader(self._walk)
        self._python: list[str] = []
        self._ui: list[str] = []

    def run(self) -> int | None:
        """Walk to the end. Returns the offset of a ``# --- ui ---`` line that was not foreseen."""
        walk, offset, language = self._walk, 0, Half.PYTHON
        while offset < len(walk.text):
            code = skip_blank(walk.text, offset)
            if code > offset:
                piece = Piece(code, Half.PYTHON, language)
            elif offset == walk.switch:
                piece = Piece(walk.source.line_end(offset), Half.NEITHER, Half.UI)
            elif MARKER.match(walk.text, offset):
                if walk.switch is None:
                    return offset
                message = "there is a second '# --- ui ---' line"
                piece = Piece(rejected(walk, offset, message, "Remove it"), Half.NEITHER, language)
            elif language is Half.UI:
                piece = self._ui_reader.read(offset)
            else:
                piece = self._python_reader.read(offset)
            self._assign(walk.text[offset : piece.end], piece.half)
            offset = piece.end
            if piece.then is Half.UI and language is not Half.UI:
                self._ui_reader.begin(offset)
            language = piece.then
        return None

    def _assign(self, text: str, half: Half) -> None:
        """Add text to a half; the other half gets as many empty lines."""
        breaks = "\n" * text.count("\n")
        self._python.append(text if half is Half.PYTHON else breaks)
        self._ui.append(text if half is Half.UI else breaks)

    def finish(self) -> Sections:
        """Return the halves, and the problems of the whole file in their order."""
        walk, scanner = self._walk, self._ui_reader.scanner
        if not walk.fixed:
            for start, end in self._ui_reader.statements:
                if len(walk.problems) < MOST_PROBLEMS:
                    walk.check_ui_statement(start, end)
            walk.check_aliases(self._python, self._ui)
        return Sections(
            "".join(self._python),
            "".join(self._ui),
            any(_EXPORTS_DEFAULT.match(walk.text, offset) for offset in scanner.exports),
            tuple(sorted([*walk.problems, *scanner.problems])),
        )


def _switch(text: str) -> int | None:
    """Return where a line ``# --- ui ---`` is that has nothing but Python before it."""
    found = MARKER.search(text)
    if found is None or isinstance(parse(text[: found.start()]), Broken):
        return None
    return found.start()
