"""One version of a page file, parsed: its halves, its problems, its places."""

from __future__ import annotations

from pathlib import Path

import attrs

from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.file_checks import check_page
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText, read_text
from fxtrio.tools.lsp.documents.positions import Places, places_of
from fxtrio.tools.lsp.documents.ui_half import UiText
from fxtrio.tools.types.ui.source.jsx_positions import UiPlaces


@attrs.frozen(eq=False)
class ParsedPage:
    """A page file, saved or not."""

    root: Path
    """The project folder."""

    path: str
    """POSIX, relative to the project folder."""

    version: int | None
    """The editor's number of this text; None when it is not open there."""

    source: SourceText
    places: Places
    """Of the whole file, and so of both halves: they keep its lines."""

    checked: CheckedPage
    problems: tuple[Problem, ...]
    """Those of the Python half and of the division into halves."""

    ui: UiText
    """The UI half: the same object as in the version before while it does not change."""

    @property
    def ui_places(self) -> UiPlaces:
        """What the types are put into; reading it takes as long as reading the page."""
        return self.ui.places

    @property
    def uri(self) -> str:
        """The file as editors name it."""
        return (self.root / self.path).as_uri()

    def in_ui(self, line: int) -> bool:
        """Whether a line (0-based) is one of the UI half: one that is not blank there."""
        return bool(_line(self.checked.ui, line).strip())


def parse_page(
    root: Path, path: str, text: str, version: int | None = None, before: ParsedPage | None = None
) -> ParsedPage:
    """Parse ``text``, which is or will be the file ``path`` of a project.

    ``before`` is an earlier text of it, parsed.
    """
    source = read_text(text, path)
    right = None if before is None or before.problems else before.checked
    checked, problems = check_page(source, root, right=right)
    ui = UiText(checked.ui) if before is None else before.ui.next(checked.ui)
    places = places_of(source.text)
    return ParsedPage(root, path, version, source, places, checked, tuple(sorted(problems)), ui)


def _line(text: str, number: int) -> str:
    lines = text.split("\n", number + 1)
    return lines[number] if number < len(lines) else ""
