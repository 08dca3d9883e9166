"""The texts of a project's modules, saved ones of whatever nobody may import yet."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from fxtrio.git_ignore import GIT_FILE, Patterns, files_around

CLIENT_CODE = (".js", ".jsx", ".ts", ".tsx", ".mjs")

MOST_FILES = 1000
"""Files of a project that are looked at (count)."""

_LARGEST = 200_000  # bytes of such a file
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "venv", "tests"})
_OUTPUT = ("/build/", "/dist/", "/out/", "/coverage/")  # where no `.gitignore` names them


def texts_of(root: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    """Yield modules whose names end with one of ``suffixes``, by folder and name.

    What is built, and what Git ignores, is nothing that anybody writes.
    """
    count = 0
    ignored = Patterns().of(root, _OUTPUT)
    for file in files_around(root):
        ignored = ignored.of_file(file)
    for parent, folders, names in os.walk(root):
        if GIT_FILE in names:
            ignored = ignored.of_file(Path(parent, GIT_FILE))
        folders[:] = sorted(
            one
            for one in folders
            if not one.startswith(".") and one not in _PASSED_OVER
            if not ignored.covers(Path(parent, one), is_folder=True)
        )
        for name in sorted(names):
            file = Path(parent, name)
            if not name.endswith(suffixes) or count == MOST_FILES or ignored.covers(file):
                continue
            count += 1
            try:
                if file.stat().st_size <= _LARGEST:
                    yield file, file.read_text("utf-8", "replace")
            except OSError:
                continue
