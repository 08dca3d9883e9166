"""Python source text behind imported code: where classes, attributes and functions are written.

The halves of page files are passed in, other modules are read once from their files. What has
no source (a built-in, an extension) has no place, and cannot be read.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from fxtrio.compile.split.python_statements import parse_source
from fxtrio.tools.types.python.shapes import Place

Function = ast.FunctionDef | ast.AsyncFunctionDef


@attrs.frozen(eq=False)
class Module:
    """One parsed module."""

    path: str
    """As in `Place`."""

    lines: list[str]
    functions: Mapping[tuple[str, int], Function]
    """By name and line: of the first decorator, or else of ``def``."""

    classes: Mapping[str, ast.ClassDef]
    """By qualified name; the last of those with the same one."""

    tree: ast.Module

    def place(self, node: ast.expr | ast.stmt | ast.arg) -> Place:
        """Return where a node begins."""
        return self.at(node.lineno, node.col_offset)

    def at(self, line: int, byte_column: int) -> Place:
        """Return a place as `ast` gives it: columns in UTF-8 bytes, from 0."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        before = text.encode("utf-8", "surrogatepass")[:byte_column]
        return Place(self.path, line, len(before.decode("utf-8", "replace")) + 1)

    def name_place(self, node: Function | ast.ClassDef) -> Place:
        """Return where the name of a function or class is."""
        text = self.lines[node.lineno - 1].encode("utf-8", "surrogatepass")
        column = text.find(node.name.encode(), node.col_offset + len("def "))
        return self.at(node.lineno, max(column, node.col_offset))


class Sources:
    """The modules of a project, parsed at their first use."""

    def __init__(self, root: Path, halves: Mapping[str, str]) -> None:
        """``halves`` are the Python halves of page files, by their source."""
        self._root = root
        self._halves = {str(root / source): text for source, text in halves.items()}
        self._known: dict[str, Module | None] = {}

    def of_file(self, file: str | None) -> Module | None:
        """Return the module of a file; None when it cannot be read."""
        if file is None:
            return None
        if file not in self._known:
            self._known[file] = self._read(file)
        return self._known[file]

    def of_function(self, function: Any) -> tuple[Module, Function] | None:
        """Return a function's module and definition."""
        code = getattr(function, "__code__", None)
        if code is None:
            return None
        module = self.of_file(code.co_filename)
        if module is None:
            return None
        found = module.functions.get((code.co_name, code.co_firstlineno))
        return None if found is None else (module, found)

    def seen_through(self, function: Any) -> Any:
        """Return the function that was decorated, but a function of the project itself.

        What a decorator of the project puts around a function is read, whatever it says of
        itself: it may return something else. Those of libraries are believed to change nothing.
        """
        while hasattr(function, "__wrapped__"):
            if inspect.isfunction(function) and self._is_own(function):
                return function
            function = function.__wrapped__
        return function

    def _is_own(self, function: Any) -> bool:
        found = self.of_function(function)
        return found is not None and not Path(found[0].path).is_absolute()

    def of_class(self, cls: type) -> tuple[Module, ast.ClassDef] | None:
        """Return a class's module and definition."""
        module = self.of_file(getattr(sys.modules.get(cls.__module__), "__file__", None))
        if module is None:
            return None
        found = module.classes.get(cls.__qualname__)
        return None if found is None else (module, found)

    def place_of_class(self, cls: type) -> Place | None:
        """Return where the name of a class is written."""
        found = self.of_class(cls)
        return None if found is None else found[0].name_place(found[1])

    def place_of_function(self, function: Any) -> Place | None:
        """Return where the name of a function is written."""
        found = self.of_function(inspect.unwrap(function))
        return None if found is None else found[0].name_place(found[1])

    def attribute_places(self, cls: type) -> dict[str, Place]:
        """Return where the attributes of a class are written, inherited ones too."""
        places: dict[str, Place] = {}
        for one in reversed(inspect.getmro(cls)[:-1]):
            found = self.of_class(one)
            if found is None:
                continue
            module = found[0]
            for name, node in _attributes(found[1]):
                places[name] = (
                    module.name_place(node) if isinstance(node, Function) else module.place(node)
                )
        return places

    def _read(self, file: str) -> Module | None:
        text = self._halves.get(file)
        path = Path(file)
        try:
            text = path.read_text("utf-8") if text is None else text
            tree = parse_source(text)
        except (OSError, SyntaxError, ValueError):
            return None
        inside = path.is_relative_to(self._root)
        place = path.relative_to(self._root).as_posix() if inside else path.as_posix()
        functions: dict[tuple[str, int], Function] = {}
        classes: dict[str, ast.ClassDef] = {}
        for name, node in _definitions(tree, ""):
            if isinstance(node, ast.ClassDef):
                classes[name] = node
            else:
                first = min((one.lineno for one in node.decorator_list), default=node.lineno)
                functions[node.name, first] = node
        return Module(place, text.split("\n"), functions, classes, tree)


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function | ast.ClassDef]]:
    """Yield all functions and classes with their qualified names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function | ast.ClassDef):
            name = prefix + child.name
            yield name, child
            inner = "." if isinstance(child, ast.ClassDef) else ".<locals>."
            yield from _definitions(child, name + inner)
        elif not isinstance(child, ast.expr):
            yield from _definitions(child, prefix)


def _attributes(cls: ast.ClassDef) -> Iterator[tuple[str, ast.expr | Function]]:
    """Yield the names that a class body gives to attributes and methods."""
    for node in cls.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node.target
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, target
        elif isinstance(node, Function):
            yield node.name, node
