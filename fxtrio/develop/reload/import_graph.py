"""Which files of the project use which: noted while they are imported. For the child of `fx dev`.

A text would not say it: modules import inside functions, by name, and through each other.
"""

from __future__ import annotations

import builtins
import importlib
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs


@attrs.define(eq=False)
class Importers:
    """The files of a project, and which of its files use each of them."""

    root: Path
    """The project folder, without symbolic links in it."""

    _users: dict[str, set[str]] = attrs.field(factory=dict)
    """File to the files that have imported it."""

    def note(self, user: str, modules: Iterable[object]) -> None:
        """Remember that the file ``user`` has imported ``modules``, if they are the project's."""
        root = f"{self.root}{os.sep}"
        if not user.startswith(root):
            return
        for module in modules:
            file = file_of(module)
            if file.startswith(root) and file != user:
                self._users.setdefault(file, set()).add(user)

    @contextmanager
    def noted_again(self, users: Iterable[str]) -> Iterator[None]:
        """Forget what ``users`` have imported, since they are run again during the block.

        After an error they are still what they were, and what they use counts as before.
        """
        before = {file: set(known) for file, known in self._users.items()}
        again = set(users)
        for known in self._users.values():
            known -= again
        try:
            yield
        except BaseException:
            for file, known in before.items():
                self._users.setdefault(file, set()).update(known)
            raise

    def dependents(self, files: Iterable[str]) -> list[str]:
        """Return ``files`` and all that use them, each after what it uses itself."""
        found: set[str] = set()
        waiting = list(files)
        while waiting:
            file = waiting.pop()
            if file not in found:
                found.add(file)
                waiting += self._users.get(file, ())
        ordered: dict[str, None] = {}

        def add(file: str, path: tuple[str, ...]) -> None:
            if file in ordered or file in path:
                return
            for used in sorted(found):
                if file in self._users.get(used, ()):
                    add(used, (*path, file))
            ordered[file] = None

        for file in sorted(found):
            add(file, ())
        return list(ordered)


def file_of(value: object) -> str:
    """Return the file of a module; "" of one without a file, and of anything else.

    No attribute of the value is read: an expression of a query has every attribute, and a
    proxy of a request raises what it likes.
    """
    if not issubclass(type(value), ModuleType):
        return ""
    file = ModuleType.__getattribute__(value, "__dict__").get("__file__")
    return file if type(file) is str else ""


@contextmanager
def noting_imports(root: Path) -> Iterator[Importers]:
    """Note the imports during the block."""
    # A finder in `sys.meta_path` would not do: Python asks it for the first import of a module, and
    # which files import it later counts as well.
    importers = Importers(root)
    plain, plain_by_name = builtins.__import__, importlib.import_module

    def noting(
        name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        __tracebackhide__ = True
        module = plain(name, globals, locals, fromlist, level)
        user = (globals or {}).get("__file__")
        if user:
            importers.note(user, _imported(module, name, fromlist))
        return module

    def noting_by_name(name: str, package: str | None = None) -> ModuleType:
        __tracebackhide__ = True
        module = plain_by_name(name, package)
        user = sys._getframe(1).f_globals.get("__file__")
        if user:
            importers.note(user, (module,))
        return module

    builtins.__import__, importlib.import_module = noting, noting_by_name
    try:
        yield importers
    finally:
        builtins.__import__, importlib.import_module = plain, plain_by_name


def _imported(module: ModuleType, name: str, names: Iterable[str] | None) -> list[object]:
    """Return the modules that an import statement names, with their packages."""
    if not names:
        # `import a.b.c` gives a, and runs all three.
        parts = name.split(".")
        whole = [".".join(parts[: number + 1]) for number in range(len(parts))]
        return [module, *filter(None, map(sys.modules.get, whole))]
    return [module, *(getattr(module, one, None) for one in names)]
