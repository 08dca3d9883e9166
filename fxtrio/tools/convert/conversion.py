"""What a conversion is to do to the files of a project: planned as a whole, before any is written.

`from_pyxle` and `from_next` fill it, `staged` shows it to `fx check`, and `applying` does it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import attrs

from fxtrio.compile.problems import Problem
from fxtrio.errors import PlacedError

_PASSED_OVER = frozenset({"node_modules", "__pycache__"})


class NothingToConvert(PlacedError):
    """The folder does not look like a project of the framework."""

    remedy = "Name the project with --root"

    def __init__(self, root: Path, framework: str, sign: str) -> None:
        super().__init__(str(root), f"this is not a project of {framework}: it has no {sign}")


@attrs.define
class Converted:
    """One file, as it will be."""

    path: str
    """Where it will be: POSIX, relative to the project folder."""

    text: str | None
    """Its text with plain line ends; None for a file that is moved as it is."""

    before: str = ""
    """Where it is now; "" for a new file."""

    done: list[str] = attrs.field(factory=list)
    """The changes to it, each a few words."""


@attrs.define
class Conversion:
    """All that is to be done to a project."""

    root: Path
    files: dict[str, Converted] = attrs.field(factory=dict)
    """By where they will be."""

    removed: dict[str, str] = attrs.field(factory=dict)
    """Files that go without anything in their place, and why."""

    left: list[Problem] = attrs.field(factory=list)
    """What has to be done by hand and no check finds; paths are those after the conversion."""

    notes: list[str] = attrs.field(factory=list)
    """Notes about the whole conversion, each a sentence."""

    def add(self, file: Converted) -> None:
        """Take over a file. Two that are to be at one place are a conflict."""
        if file.path in self.files:
            where = self.files[file.path].before
            cause = f"it is to be at '{file.path}', and so is '{where}'"
            self.left.append(Problem(file.before, 1, 1, cause, "Move one of them by hand"))
            return
        self.files[file.path] = file

    def changes(self) -> Iterator[Converted]:
        """Yield the files that will differ from what there is, by path."""
        for path in sorted(self.files):
            file = self.files[path]
            if file.done or file.before != file.path:
                yield file

    def touched(self) -> list[str]:
        """Return all paths that are written or removed, once each."""
        paths = {file.path for file in self.changes()}
        paths |= {file.before for file in self.changes() if file.before}
        return sorted(paths | set(self.removed))


def project_files(root: Path) -> Iterator[str]:
    """Yield the files of a project, by path; without hidden folders, packages and environments.

    Links are passed over: they may lead anywhere.
    """
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in _PASSED_OVER
            and not (here / name / "pyvenv.cfg").exists()
        )
        for name in sorted(names):
            if not (here / name).is_symlink():
                yield (here / name).relative_to(root).as_posix()


def read_plain(path: Path) -> str | None:
    """Return the text of a file with plain line ends; None when it is not UTF-8."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def suffix_of(path: str) -> str:
    """Return how a file's name ends: ``.py``."""
    return PurePosixPath(path).suffix


def by_place(problems: Iterable[Problem]) -> list[Problem]:
    """Return each problem once, by place."""
    return sorted({str(one): one for one in problems}.values())
