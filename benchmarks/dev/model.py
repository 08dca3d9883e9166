"""What is known of a development server: how it is started, and what is saved in its project."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs

from benchmarks.contenders.model import Command


@attrs.frozen
class Project:
    """A project that is edited."""

    root: Path

    def write(self, file: str, text: str) -> None:
        """Write a file as most editors do: in place."""
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace ``old``, which is there, once."""
        text = (self.root / file).read_text("utf-8")
        assert old in text, (file, old)
        self.write(file, text.replace(old, new, 1))


@attrs.frozen(kw_only=True)
class Edit:
    """One kind of save."""

    save: Callable[[Project, int], None]
    """The number counts from 1."""

    check: Callable[[int], str]
    """An expression for the browser: whether it shows what was saved."""

    visits: Callable[[int], str] | None = None
    """The URL path that another window shows meanwhile, and where it is to be seen."""


@attrs.frozen(kw_only=True)
class DevServer:
    """A development server with one project."""

    name: str
    project: Project
    command: Callable[[int], Command]
    """What serves on a port of 127.0.0.1."""

    announces: re.Pattern[str]
    """The line by which it asks people to open the browser."""

    path: str
    """Where the page is that is edited."""

    edits: Mapping[str, tuple[Edit, ...]]
    """By the name of what is saved. Those of one name are saved in turn."""

    other_page: tuple[str, str]
    """File and text of each other page, which is at `/p{n}`; both have ``{n}`` for its number."""

    caches: tuple[str, ...]
    """Folders in which it keeps what it makes; without them it starts cold."""

    def fill(self, pages: int) -> None:
        """Give the project so many pages, the one that is edited included."""
        file, text = self.other_page
        for old in self.project.root.glob(file.replace("{n}", "[0-9]*")):
            old.unlink()
        for number in map(str, range(1, pages)):
            self.project.write(file.replace("{n}", number), text.replace("{n}", number))

    def clear_caches(self) -> None:
        """Let the next start be a cold one."""
        for name in self.caches:
            shutil.rmtree(self.project.root / name, ignore_errors=True)
