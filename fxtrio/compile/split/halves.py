"""A page file in, its Python half and its UI half out. No I/O.

Both halves keep every line: what belongs to the other half is an empty line, so
lines and columns are those of the file. The time is linear in the length.
Called by `project`.
"""

from __future__ import annotations

import re
import warnings

import attrs

from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText, read_text
from fxtrio.compile.split.merge_conflicts import conflicts_in
from fxtrio.compile.split.python_statements import MARKER, Broken, parse
from fxtrio.compile.split.splitter import Splitter

_EXPORTS_DEFAULT = re.compile(
    r"\bexport\s++default\b"
    r"|\bexport\s*+\{(?:\s*+default\b|(?:(?!\b(?:export|as\s++default)\b)[^}])*+\bas\s++default\b)"
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
    text = source.text
    nul = text.find("\0")
    if nul >= 0:
        blank = "\n" * text.count("\n")
        problem = source.problem(nul, "there is a NUL byte", "Save the file as text, in UTF-8")
        return Sections(blank, blank, exports_default=False, problems=(problem,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of code that is only looked at, such as "\d"
        splitter = Splitter(source, switch=_switch(text))
        found = splitter.run()
        if found is not None:
            splitter = Splitter(source, switch=found)
            splitter.run()
        problems = splitter.finish()
    if problems and (conflicts := conflicts_in(source)):
        blank = "\n" * text.count("\n")
        return Sections(blank, blank, exports_default=False, problems=tuple(conflicts))
    return Sections(
        "".join(splitter.python),
        "".join(splitter.ui),
        any(_EXPORTS_DEFAULT.match(text, offset) for offset in splitter.scanner.exports),
        tuple(sorted(problems)),
    )


def _switch(text: str) -> int | None:
    """Return where a line ``# --- ui ---`` is that has nothing but Python before it."""
    found = MARKER.search(text)
    if found is None or isinstance(parse(text[: found.start()]), Broken):
        return None
    return found.start()
