"""The files of a project whose names all halves know, whoever imports them.

An editor has the compiler look at open pages only, of which none may import them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import attrs

_PASSED_OVER = frozenset({"node_modules", "__pycache__", "venv"})
"""Folders that `readDeclarations` of declarations.js passes over, too, besides those with a dot."""

_TYPESCRIPT = (".ts", ".mts", ".tsx")
_GLOBAL = re.compile(r"\bdeclare\s+global\b")


@attrs.define(eq=False)
class DeclarationFiles:
    """Finds those of the project in ``root``; modules that stay the same are read once."""

    root: Path
    _known: dict[str, tuple[tuple[int, int], bool]] = attrs.field(factory=dict)
    """Time and size of a module, and whether it has `declare global`, by path."""

    def find(self) -> list[str]:
        """Return the paths of declaration files, and of modules with `declare global`."""
        return sorted(self._found())

    def _found(self) -> Iterator[str]:
        for folder, folders, names in os.walk(self.root):
            folders[:] = [one for one in folders if one[0] != "." and one not in _PASSED_OVER]
            for name in names:
                if not name.endswith(_TYPESCRIPT):  # as most: a `Path` of each would take long
                    continue
                path = (Path(folder) / name).as_posix()
                if name.endswith(".d.ts") or self._declares(path):
                    yield path

    def _declares(self, path: str) -> bool:
        try:
            status = Path(path).stat()
            stamp = status.st_mtime_ns, status.st_size
            known = self._known.get(path)
            if known is None or known[0] != stamp:
                text = Path(path).read_text("utf-8", "replace")
                known = self._known[path] = stamp, _GLOBAL.search(text) is not None
        except OSError:  # it is gone
            return False
        return known[1]
