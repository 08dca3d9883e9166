"""The Python modules of a project that its pages use, found by their imports.

No code of the project is run: what a module imports by a computed name stays unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

from fxtrio.compile.source import SourceText, file_bytes, read_bytes
from fxtrio.compile.split.python_statements import Broken, parse_module
from fxtrio.compile.split.suggestions import has_portal


@attrs.frozen(eq=False)
class OwnModule:
    """One Python module of the project."""

    source: SourceText
    tree: ast.Module
    behind_portal: bool
    """Whether it, or a module on the way to it, has the portal to asyncio: its coroutines may well
    be run there."""


@attrs.frozen(eq=False)
class UsedModules:
    """The modules of a project that its pages lead to."""

    modules: tuple[OwnModule, ...]
    """By path."""

    broken: tuple[tuple[SourceText, Broken], ...]
    """Those that do not parse, and why, by path."""


def modules_used(
    root: Path, starts: Iterable[ast.Module], named: Iterable[str] = ()
) -> UsedModules:
    """Return the modules of the project in ``root`` that ``starts`` lead to.

    ``named`` are dotted names of the settings, such as ``guards.signed_in``.
    """
    read: dict[Path, tuple[SourceText, ast.Module | Broken] | None] = {}
    seen: set[tuple[Path, bool]] = set()
    waiting = [
        (file, has_portal(start)) for start in starts for file in _files_of(start, root, root)
    ]
    waiting += [(file, False) for name in named for file in _candidates(name, root)]
    while waiting:
        file, portal = waiting.pop()
        if file not in read:
            read[file] = _read(file, root)
        found = read[file]
        if found is None or isinstance(found[1], Broken) or (file, portal) in seen:
            continue
        seen.add((file, portal))
        inner = portal or has_portal(found[1])
        waiting += [(used, inner) for used in _files_of(found[1], file.parent, root)]
    modules: list[OwnModule] = []
    broken: list[tuple[SourceText, Broken]] = []
    for file, found in sorted(read.items()):
        if found is None:
            continue
        source, parsed = found
        if isinstance(parsed, Broken):
            broken.append((source, parsed))
        else:
            behind_portal = (file, True) in seen or has_portal(parsed)
            modules.append(OwnModule(source, parsed, behind_portal))
    return UsedModules(tuple(modules), tuple(broken))


def read_module(file: Path, root: Path) -> tuple[SourceText, ast.Module] | None:
    """Return a module of the project with its text; None for one that is missing or broken."""
    match _read(file, root):
        case SourceText() as source, ast.Module() as module:
            return source, module
    return None


def _read(file: Path, root: Path) -> tuple[SourceText, ast.Module | Broken] | None:
    """Return a module with its syntax tree; None for one that is missing, or not in UTF-8."""
    try:
        source = read_bytes(file_bytes(file), file.relative_to(root).as_posix())
    except OSError:
        return None
    return (source, parse_module(source.text)) if isinstance(source, SourceText) else None


def _files_of(module: ast.Module, folder: Path, root: Path) -> Iterator[Path]:
    """Yield the files of the project that a module in ``folder`` imports."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _candidates(alias.name, root)
        elif isinstance(node, ast.ImportFrom):
            base = root
            if node.level:
                base = folder if node.level == 1 else folder.parents[node.level - 2]
                if not base.is_relative_to(root):
                    continue
            prefix = f"{node.module}." if node.module else ""
            for alias in node.names:
                yield from _candidates(f"{prefix}{alias.name}", base)


def _candidates(name: str, base: Path) -> Iterator[Path]:
    """Yield the files below ``base`` that an import of ``name``, or of a name in it, runs."""
    path = base
    for part in name.replace(":", ".").split("."):
        path = path / part
        for file in (path.with_name(f"{part}.py"), path / "__init__.py"):
            if file.is_file():
                yield file
