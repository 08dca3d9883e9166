"""Which Markdown files of a project its code reads as collections. Runs no code.

Calls of `content.load` are found by their statements, like imports: a folder whose name is computed
has to be named by its author (``--include``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from os.path import normpath
from pathlib import Path

_MODULES, _CALLED = ("content", "collections"), "load"
_EXTRA = "markdown_it"


def collection_files(root: Path, files: Iterable[Path]) -> set[Path]:
    """Return the files of the collections that Python ``files`` read, with code that they show."""
    found: set[Path] = set()
    for name in {name for file in files for name in _folders(file)}:
        folder = _inside(root, name)
        for file in folder.rglob("*.md") if folder else ():
            if file.is_file():
                found |= {file, *_read_files(root, file)}
    return found


def _inside(root: Path, name: str) -> Path | None:
    """Return what ``name`` stands for; None if it is not there, or outside of the project."""
    try:
        path = Path(normpath(root / name))
        is_inside = path.resolve(strict=True).is_relative_to(root.resolve())
    except (OSError, ValueError, RuntimeError):  # such as text that is no name; links in a circle
        return None
    return path if is_inside and path.is_relative_to(root) else None


def _folders(file: Path) -> Iterator[str]:
    """Yield the folders that a file names in calls of `load`, as it has imported it."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    nodes = list(ast.walk(tree))
    called = {name for node in nodes for name in _names_of_load(node)}
    if not called:
        return
    constants = {
        target.id: node.value.value
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in nodes:
        if isinstance(node, ast.Call) and _dotted(node.func) in called:
            named = [one.value for one in node.keywords if one.arg == "folder"]
            for value in [*node.args[:1], *named]:
                folder = constants.get(value.id) if isinstance(value, ast.Name) else value
                folder = folder.value if isinstance(folder, ast.Constant) else folder
                if isinstance(folder, str) and folder.strip("./"):
                    yield folder


def _names_of_load(node: ast.AST) -> Iterator[str]:
    """Yield the names by which code can call `load` after an import."""
    if isinstance(node, ast.ImportFrom):
        is_content = _last(node.module or "") in _MODULES
        for one in node.names:
            if is_content and one.name in (_CALLED, "*"):
                yield one.asname or _CALLED
            elif one.name in _MODULES:
                yield f"{one.asname or one.name}.{_CALLED}"
    elif isinstance(node, ast.Import):
        for one in node.names:
            if _last(one.name) in _MODULES:
                yield f"{one.asname or one.name}.{_CALLED}"


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def _dotted(called: ast.expr) -> str:
    """Return a name with its dots; "" for other expressions."""
    names: list[str] = []
    while isinstance(called, ast.Attribute):
        names.append(called.attr)
        called = called.value
    return ".".join([called.id, *reversed(names)]) if isinstance(called, ast.Name) else ""


def _read_files(root: Path, file: Path) -> Iterator[Path]:
    """Yield the files whose code a Markdown file includes."""
    if find_spec(_EXTRA) is None:  # nothing of this project reads collections
        return
    from fxtrio.content.article import included_files

    text = file.read_text("utf-8", errors="replace").removeprefix("\ufeff")
    for name in included_files(text):
        path = _inside(root, name)
        if path is not None and path.is_file():
            yield path
