"""Modules of actions: the Python files below the project's `actions` folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

FOLDER = "actions"
"""Relative to the project folder."""

PREFIX = "/@actions/"
"""What the patterns of their actions begin with. No folder of pages is called that by accident, and
a setting that opens `/api/*` does not open them."""


class ActionFile(msgspec.Struct, frozen=True, order=True):
    """A Python file that may have actions: the folder may be a package that others use."""

    source: str
    """For example ``actions/billing/invoices.py``."""

    name: str
    """What the names of its actions begin with: ``billing.invoices``."""


def find_action_files(root: Path) -> tuple[ActionFile, ...]:
    """Return the files of the project in ``root`` that may have actions, by source."""
    return tuple(sorted(_found(root)))


def is_action_file(path: str) -> bool:
    """Whether a file of the project, by its path, may have actions."""
    folder, *parts = path.split("/")
    names = [*parts[:-1], parts[-1].removesuffix(".py")] if parts else []
    public = all(name.isidentifier() and not name.startswith("_") for name in names)
    return folder == FOLDER and bool(names) and public and path.endswith(".py")


def _found(root: Path) -> Iterator[ActionFile]:
    for path, folders, names in os.walk(root / FOLDER):
        folders[:] = sorted(name for name in folders if name.isidentifier())
        for name in names:
            source = (Path(path) / name).relative_to(root).as_posix()
            if is_action_file(source):
                below = source.removeprefix(f"{FOLDER}/").removesuffix(".py")
                yield ActionFile(source, below.replace("/", "."))
