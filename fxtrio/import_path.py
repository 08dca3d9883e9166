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
from types import ModuleType
from typing import Any

import msgspec

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


class _PathHook(msgspec.Struct, frozen=True, eq=False):
    """Finds the modules of projects; packages that are installed below one are Python's."""

    roots: set[str] = msgspec.field(default_factory=set)
    front: list[str] = msgspec.field(default_factory=list)
    """The root that was put on the path last."""

    def __call__(self, path: str) -> FileFinder:
        """Raise ImportError for a path outside of the project, as hooks do."""
        folder = Path(path)
        if "site-packages" in folder.parts or self.roots.isdisjoint(
            map(str, (folder, *folder.parents))
        ):
            raise ImportError(path)
        return FileFinder(path, *_LOADERS)


_NO_APP = ("__main__", "conftest", "tests")
"""Modules below a root that no app imports, and that whoever runs tests may be running."""

_set_aside: dict[str, dict[str, ModuleType]] = {}
"""Modules of projects whose names are taken by the project in front, by the project's root."""


def put_on_path(root: Path) -> None:
    """Let modules be imported from ``root``, an absolute path, before those of other places.

    Projects in one process may have modules of the same name: those of another project are set
    aside, and come back when that one is put on the path again.
    """
    name = str(root)
    hook = next((one for one in sys.path_hooks if isinstance(one, _PathHook)), None)
    if hook is None:
        hook = _PathHook()
        sys.path_hooks.insert(0, hook)
    if hook.front == [name] and sys.path[:1] == [name]:
        return
    hook.front[:] = [name]
    if name not in sys.path or any(
        entry in hook.roots for entry in sys.path[: sys.path.index(name)]
    ):
        sys.path[:] = [name, *(entry for entry in sys.path if entry != name)]
    if name not in hook.roots:
        hook.roots.add(name)
        for path in list(sys.path_importer_cache):
            if path == name or path.startswith(name + os.sep):
                del sys.path_importer_cache[path]  # found again, by the hook
    if len(hook.roots) > 1:
        _set_others_aside(root, hook.roots)
        for module, known in _set_aside.pop(name, {}).items():
            _enter(module, known)


def _set_others_aside(root: Path, roots: set[str]) -> None:
    """Remove the modules of other projects that cover those of ``root``."""
    if not root.is_dir():
        return
    provided = {entry.name.removesuffix(".py") for entry in os.scandir(root)}
    covering: list[tuple[str, ModuleType, str]] = []
    for name, module in list(sys.modules.items()):
        top = name.partition(".")[0]
        if top not in provided or top in _NO_APP or top.startswith("test_"):
            continue
        owner = _owner(module, roots)
        if owner is None or owner == str(root):
            continue
        if _is_module(root / top) or _is_module(root / name.replace(".", "/")):
            covering.append((name, module, owner))
    for name, module, owner in covering:  # now: a folder in a folder asks that one for its places
        _set_aside.setdefault(owner, {})[name] = module
        _remove(name, module)


def _owner(module: ModuleType, roots: set[str]) -> str | None:
    """Return the root of the project that a module is of; None for what is installed."""
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    if not isinstance(file, str) or "site-packages" in Path(file).parts:
        return None
    return next((str(folder) for folder in Path(file).parents if str(folder) in roots), None)


def _is_module(path: Path) -> bool:
    """Whether a path without its suffix is a file or a package; plain folders may be shared."""
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def _remove(name: str, module: ModuleType) -> None:
    del sys.modules[name]
    package, _, last = name.rpartition(".")
    names = getattr(sys.modules.get(package), "__dict__", {})
    if names.get(last) is module:
        del names[last]  # where `from package import module` would find it


def _enter(name: str, module: ModuleType) -> None:
    sys.modules[name] = module
    package, _, last = name.rpartition(".")
    if package in sys.modules:
        sys.modules[package].__dict__.setdefault(last, module)
