"""Which files of a project its code imports, and which Markdown it loads. Runs no code.

Imports and calls of `content.load` are found by their statements: what a program imports or loads
by a name that it computes has to be named by its author (``--include``).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from os.path import normpath
from pathlib import Path

import attrs

_MODULES, _CALLED = ("content", "collections"), "load"
_EXTRA = "markdown_it"


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


def _nodes(file: Path) -> Iterator[ast.AST]:
    """Yield the syntax tree of a file; nothing of one that cannot be parsed."""
    try:
        yield from ast.walk(ast.parse(file.read_bytes()))
    except (OSError, SyntaxError, ValueError):
        return


def _names(file: Path, root: Path) -> Iterator[str]:
    """Yield the modules that a file may import, by their whole names."""
    folder = file.parent
    for node in _nodes(file):
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
    nodes = list(_nodes(file))
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
