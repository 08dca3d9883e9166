"""Puts a project on the import path, and stores bytecode only of files that no longer change.

Python takes bytecode for that of a text of the same size, saved in the same second. Whoever
saves twice within one, and starts a process in between, would see the first text for ever.
For all that import code of an application.
"""

from __future__ import annotations

import os
import sys
import time
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from typing import Any

import attrs

_YOUNG = 2.0  # seconds; the second of a save has passed, by clocks that are not quite the same


class _Loader(SourceFileLoader):
    """Loads a module, and keeps no bytecode of a text that was saved a moment ago."""

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        """Write bytecode, which is all that importlib writes."""
        try:
            saved = Path(self.path).stat().st_mtime
        except OSError:  # it was removed already
            return
        if time.time() - saved > _YOUNG:
            super().set_data(path, data, _mode=_mode)


_LOADERS = (
    (ExtensionFileLoader, EXTENSION_SUFFIXES),
    (_Loader, SOURCE_SUFFIXES),
    (SourcelessFileLoader, BYTECODE_SUFFIXES),
)


@attrs.frozen(eq=False)
class _PathHook:
    """Finds the modules of projects; packages that are installed below one are Python's."""

    roots: set[str] = attrs.field(factory=set)

    def __call__(self, path: str) -> FileFinder:
        """Raise ImportError for a path outside of the project, as hooks do."""
        folder = Path(path)
        if "site-packages" in folder.parts or self.roots.isdisjoint(
            map(str, (folder, *folder.parents))
        ):
            raise ImportError(path)
        return FileFinder(path, *_LOADERS)


def put_on_path(root: Path) -> None:
    """Let modules be imported from ``root``, an absolute path, before those of other places."""
    name = str(root)
    if name not in sys.path:
        sys.path.insert(0, name)
    hook = next((one for one in sys.path_hooks if isinstance(one, _PathHook)), None)
    if hook is None:
        hook = _PathHook()
        sys.path_hooks.insert(0, hook)
    if name not in hook.roots:
        hook.roots.add(name)
        for path in list(sys.path_importer_cache):
            if path == name or path.startswith(name + os.sep):
                del sys.path_importer_cache[path]  # found again, by the hook
