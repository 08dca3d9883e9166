"""Which Python files of a project its code imports. Reads files, and runs none.

Imports are found by their statements: what a program imports by a name that it computes has to be
named by its author (``--include``).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs


@attrs.define
class Imported:
    """What the code of a project leads to."""

    files: set[Path] = attrs.field(factory=set)
    """Of the project, absolute."""

    packages: set[str] = attrs.field(factory=set)
    """Names at the top of packages that are neither of the project nor of Python."""


def follow_imports(root: Path, starts: Iterable[Path], names: Iterable[str]) -> Imported:
    """Return what the files ``starts`` and the modules ``names`` import, and what that imports.

    ``root`` is the folder of the project, from which its modules are imported. A file that Python
    cannot parse leads nowhere: the build has reported it.
    """
    found = Imported()
    waiting: list[Path] = list(starts)
    for name in names:
        waiting += _files_of(root, name, found)
    seen: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        if file.is_relative_to(root):
            found.files.add(file)
        for name in _names(file, root):
            waiting += _files_of(root, name, found)
    return found


def _names(file: Path, root: Path) -> Iterator[str]:
    """Yield the modules that a file may import, by their whole names."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    folder = file.parent
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                if not folder.is_relative_to(root):
                    continue
                parts = folder.relative_to(root).parts
                around = parts[: len(parts) - node.level + 1]
                base = ".".join([*around, *([base] if base else [])])
            if base:
                yield base
            yield from (f"{base}.{one.name}".lstrip(".") for one in node.names if one.name != "*")


def _files_of(root: Path, name: str, found: Imported) -> list[Path]:
    """Return the files of the project that an import of a module runs; none for other modules."""
    parts = name.split(".")
    files = []
    folder = root
    for part in parts:
        module, package = folder / f"{part}.py", folder / part / "__init__.py"
        if package.is_file():
            files.append(package)
        elif module.is_file():
            files.append(module)
            break
        folder = folder / part
        if not folder.is_dir():
            break
    top = parts[0]
    if not files and not (root / top).is_dir() and top not in sys.stdlib_module_names:
        found.packages.add(top)
    return files
