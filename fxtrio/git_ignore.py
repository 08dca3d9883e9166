"""Which files of a project Git ignores, by the patterns of its `.gitignore` files.

Called by `fx dev`, which does not act on them, and by searches of editors. Git is not run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import attrs
from pathspec import GitIgnoreSpec

GIT_FILE = ".gitignore"


@attrs.frozen
class Patterns:
    """Patterns, the last of which decides. Each counts from a folder on."""

    _specs: tuple[tuple[Path, GitIgnoreSpec], ...] = ()

    def of(self, folder: Path, patterns: Sequence[str]) -> Patterns:
        """Return these, and further ones for the files in ``folder``, which decide first."""
        return Patterns((*self._specs, (folder, _spec(patterns))))

    def of_file(self, file: Path) -> Patterns:
        """Return these, and those that a `.gitignore` file has; one that is not there has none."""
        return self.of(file.parent, _lines(file))

    def covers(self, file: Path, *, is_folder: bool = False) -> bool:
        """Return whether ``file``, an absolute path, is ignored."""
        end = "/" if is_folder else ""
        for folder, spec in reversed(self._specs):
            if file.is_relative_to(folder):
                found = spec.check_file(file.relative_to(folder).as_posix() + end).include
                if found is not None:
                    return found
        return False


def files_around(root: Path) -> list[Path]:
    """Return the `.gitignore` files above ``root`` that count in it, outermost first.

    They may not exist. There are none if they ignore ``root`` itself: they would ignore all of it.
    """
    around = [root, *root.parents]
    top = next((index for index, folder in enumerate(around) if (folder / ".git").exists()), 0)
    files = [folder / GIT_FILE for folder in reversed(around[1 : top + 1])]
    patterns = Patterns()
    for file in files:
        patterns = patterns.of_file(file)
    return [] if patterns.covers(root, is_folder=True) else files


def _spec(patterns: Sequence[str]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(patterns)


def _lines(file: Path) -> list[str]:
    """Return the lines of a file that are patterns; Git passes over others, too."""
    try:
        lines = file.read_text("utf-8", errors="replace").splitlines()
    except OSError:  # there is none, or it has been deleted since
        return []
    return [line for line in lines if _is_pattern(line)]


def _is_pattern(line: str) -> bool:
    try:
        _spec([line])
    except (ValueError, re.error):  # such as one that is half written
        return False
    return True
