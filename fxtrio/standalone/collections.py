"""Which Markdown files of a project its code reads as collections. Runs no code.

Calls of `content.load` are found by their statements, like imports: a folder whose name is computed
has to be named by its author (``--include``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from fxtrio.content.included import read_fence

_MODULE, _CALLED = "content", "load"
_FENCES = ("```", "~~~")


def collection_files(root: Path, files: Iterable[Path]) -> set[Path]:
    """Return the files of the collections that Python ``files`` read, with code that they show."""
    found: set[Path] = set()
    for name in {name for file in files for name in _folders(file)}:
        folder = root / name
        for file in folder.rglob("*.md") if folder.resolve().is_relative_to(root) else ():
            found |= {file, *_shown(root, file)}
    return found


def _folders(file: Path) -> Iterator[str]:
    """Yield the folders that a file names in calls of `load`, if it imports `fx.content`."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    nodes = list(ast.walk(tree))
    if not any(_imports_content(node) for node in nodes):
        return
    constants = {
        target.id: node.value.value
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in nodes:
        if isinstance(node, ast.Call) and _is_load(node.func):
            named = [one.value for one in node.keywords if one.arg == "folder"]
            for value in [*node.args[:1], *named]:
                folder = constants.get(value.id) if isinstance(value, ast.Name) else value
                folder = folder.value if isinstance(folder, ast.Constant) else folder
                if isinstance(folder, str) and folder.strip("./"):
                    yield folder


def _imports_content(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return _MODULE in (node.module or "") or any(one.name == _MODULE for one in node.names)
    return isinstance(node, ast.Import) and any(_MODULE in one.name for one in node.names)


def _is_load(called: ast.expr) -> bool:
    if isinstance(called, ast.Name):  # under whatever name it was imported
        return True
    return isinstance(called, ast.Attribute) and called.attr == _CALLED


def _shown(root: Path, file: Path) -> Iterator[Path]:
    """Yield the files whose code a Markdown file includes."""
    for line in file.read_text("utf-8", errors="replace").splitlines():
        mark = line.lstrip(" >")
        if mark.startswith(_FENCES):
            name = read_fence(mark.lstrip("`~")).file
            if name and (root / name).is_file():
                yield root / name
