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
    ModuleSpec,
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


class _Finder(FileFinder):
    """Finds modules of a folder, unless the project in front has a plain folder of the name.

    Python takes a module anywhere on the path rather than a folder without `__init__.py`.
    """

    def __init__(self, path: str, hook: _PathHook) -> None:
        super().__init__(path, *_LOADERS)
        self._hook = hook

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the package of such a name as a plain folder, which others may share."""
        spec = super().find_spec(fullname, target)
        if spec is None or spec.loader is None or len(self._hook.roots) < 2:
            return spec
        owner = _root_of(self.path, self._hook.roots)
        front = self._hook.front[0]
        if owner is None or owner == front or not _is_of_app(fullname.partition(".")[0]):
            return spec
        if not _hides(owner, front, fullname):
            return spec
        if spec.submodule_search_locations is None:
            return None
        shared = ModuleSpec(fullname, None, is_package=True)
        shared.submodule_search_locations = spec.submodule_search_locations
        return shared


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
        return _Finder(path, self)


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
        if top not in provided or not _is_of_app(top):
            continue
        owner = _owner(module, roots)
        if owner is None or owner == str(root):
            continue
        if _is_covering(name, owner, root):
            covering.append((name, module, owner))
    for name, module, owner in covering:  # now: a folder in a folder asks that one for its places
        _set_aside.setdefault(owner, {})[name] = module
        remove_module(name)


def _is_of_app(top: str) -> bool:
    return top not in _NO_APP and not top.startswith("test_")


def _owner(module: ModuleType, roots: set[str]) -> str | None:
    """Return the root of the project that a module is of; None for an installed one."""
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    if not isinstance(file, str) or "site-packages" in Path(file).parts:
        return None
    return _root_of(file, roots)


def _root_of(path: str, roots: set[str]) -> str | None:
    places = (Path(path), *Path(path).parents)
    return next((str(folder) for folder in places if str(folder) in roots), None)


def _is_covering(name: str, owner: str, root: Path) -> bool:
    """Whether a module of ``owner``, or a package that it is in, covers something of ``root``."""
    parts = name.split(".")
    names = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
    return any(_is_module(_place(root, one)) or _hides(owner, root, one) for one in names)


def _hides(owner: str, root: Path | str, name: str) -> bool:
    """Whether a module of ``owner`` hides a folder of ``root``, which has Python and no init."""
    folder = _place(root, name)
    return (
        folder.is_dir()
        and _is_module(_place(owner, name))
        and not _is_module(folder)
        and any(folder.rglob("*.py"))
    )


def _place(root: Path | str, name: str) -> Path:
    return Path(root, *name.split("."))


def _is_module(path: Path) -> bool:
    """Whether a path without its suffix is a file or a package; plain folders may be shared."""
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def remove_module(name: str) -> ModuleType:
    """Let a module be imported anew, also by `from package import module`; return what it was.

    A package that is to be kept as it is has to be removed before its modules.
    """
    module = sys.modules.pop(name)
    package, _, last = name.rpartition(".")
    names = getattr(sys.modules.get(package), "__dict__", {})
    if names.get(last) is module:
        del names[last]  # where `from package import module` would find it
    return module


def _enter(name: str, module: ModuleType) -> None:
    sys.modules[name] = module
    package, _, last = name.rpartition(".")
    if package in sys.modules:
        sys.modules[package].__dict__.setdefault(last, module)
