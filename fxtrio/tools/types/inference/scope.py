"""Where code is read: the names of a function and of its module, and what all readers share."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from fxtrio.tools.types.inference.values import Names, Unknown, Value, either, parts_of
from fxtrio.tools.types.python.shapes import Place
from fxtrio.tools.types.python.sources import Module, Sources

MOST = 200
"""Functions that are read for one loader or action (count)."""

DEEPEST = 6
"""Functions without annotations that are read inside of each other (count)."""

Arguments = tuple[Sequence[Value], Mapping[str, Value]]
"""By position, and by name; `SPREAD` and `SPREAD_NAMES` are those passed as ``*`` and ``**``."""

SPREAD = "*"
"""Name of one of the further arguments: nobody knows how many there are."""

SPREAD_NAMES = "**"
"""Name of a dict whose keys are names of arguments."""


@attrs.define(eq=False)
class Reader:
    """What the reading of a project's code needs. The three functions close a circle of imports."""

    sources: Sources
    run: Callable[[Any, Arguments], Value] = attrs.field(init=False)
    """Reads a Python function that was called."""

    evaluate: Callable[[ast.expr, Scope], Value] = attrs.field(init=False)
    """Reads an expression."""

    named: Callable[[ast.expr, Scope], Value] = attrs.field(init=False)
    """Reads a name of a module, or of another module."""

    stack: list[Any] = attrs.field(factory=list)
    """Code of the functions that are being read."""

    read: int = 0
    """Functions that were read for the present loader or action (count)."""

    constants: dict[tuple[int, str], Value] = attrs.field(factory=dict)
    """The inferred values of names of modules."""


@attrs.define(eq=False)
class Scope:
    """The names that code sees."""

    reader: Reader
    namespace: Mapping[str, Any]
    """Of the module."""

    module: Module | None
    names: Names = attrs.field(factory=dict)
    """Of the function; also what was narrowed, such as ``note.due``."""

    local: frozenset[str] = frozenset()
    """Names that the function binds somewhere."""

    shared: frozenset[str] = frozenset()
    """Names that functions inside of the function assign, whenever they run."""

    yielded: list[Value] = attrs.field(factory=list)
    """What the function yields, if it is a generator."""

    def place(self, node: ast.expr | ast.stmt) -> Place | None:
        """Return where a node is."""
        return None if self.module is None else self.module.place(node)

    def unknown(self, node: ast.expr | ast.stmt, reason: str, remedy: str = "") -> Unknown:
        """Return what says why nothing is known of a node."""
        return Unknown(reason, self.place(node), remedy)

    def bind(self, name: str, value: Value) -> None:
        """Give a name to a value; what was known of parts of the old one is forgotten."""
        for known in [one for one in self.names if _is_part(one, name)]:
            del self.names[known]
        if name in self.shared:
            value = Unknown(f"{name!r} is reassigned by an inner function")
        self.names[name] = value

    def inner(self) -> Scope:
        """Return a scope for what binds names of its own: a comprehension."""
        return attrs.evolve(self, names=dict(self.names))

    def live(self, node: ast.expr) -> Any:
        """Return the object that a name of the module stands for; None for other expressions."""
        if isinstance(node, ast.Name):
            if node.id in self.names or node.id in self.local:
                return None
            return self.namespace.get(node.id, getattr(builtins, node.id, None))
        if isinstance(node, ast.Attribute):
            owner = self.live(node.value)
            if isinstance(owner, types.ModuleType | type):
                return getattr(owner, node.attr, None)
        return None


def _is_part(path: str, name: str) -> bool:
    return path.startswith(name) and path[len(name) : len(name) + 1] in (".", "[")


def path_of(node: ast.expr) -> str:
    """Return the text of a name, attribute or item by constant; "" for all else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = path_of(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        owner = path_of(node.value)
        return f"{owner}[{node.slice.value!r}]" if owner else ""
    return ""


def root_of(node: ast.expr) -> str:
    """Return the name at the beginning of attributes, items and calls; "" without one."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.Starred | ast.Await):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def without(value: Value, left_out: Callable[[Value], bool]) -> Value:
    """Return a value that is none of those that ``left_out`` names, unless it is nothing else."""
    parts = parts_of(value)
    rest = [part for part in parts if not left_out(part)]
    return either(rest) if rest and len(rest) < len(parts) else value


def constant_of(node: ast.expr) -> Any:
    """Return what a literal stands for; None for another expression."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = constant_of(node.operand)
        return -inner if isinstance(inner, int) else None
    return node.value if isinstance(node, ast.Constant) else None


def fixed_of(node: ast.expr) -> str | int | None:
    """Return the constant that an expression is, True for text that is never empty."""
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(one, ast.Constant) for one in node.values) or None
    value = constant_of(node)
    return value if isinstance(value, str | int) else None


def located(value: Value, node: ast.expr, scope: Scope) -> Value:
    """Return a value; an unknown one gets the place of its expression."""
    if isinstance(value, Unknown) and value.place is None:
        return scope.unknown(node, value.reason, value.remedy)
    return value


def changed_in(node: ast.AST) -> set[str]:
    """Return the names whose objects the code inside of ``node``, a definition, may change."""
    found: set[str] = set()
    for one in ast.walk(node):
        if isinstance(one, ast.Nonlocal | ast.Global):
            found.update(one.names)
        elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load):
            found.add(one.id)
        elif isinstance(one, ast.Subscript | ast.Attribute) and not isinstance(one.ctx, ast.Load):
            found.add(root_of(one))
    return found


def bound_in(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """Return the names that a function binds, its parameters included."""
    found: set[str] = set()
    waiting: list[ast.AST] = [*function.body, function.args]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            found.add(node.name)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return frozenset(found - _declared_global(function))


def _declared_global(function: ast.AST) -> set[str]:
    return {
        name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names
    }


def rebound_inside(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """Return the names of a function that functions inside of it assign."""
    return frozenset(
        name for node in ast.walk(function) if isinstance(node, ast.Nonlocal) for name in node.names
    )
