"""``type Name = …``: a type alias of Python or of TypeScript, distinguished by its text. Pure.

Both languages have this statement, so what it says decides. In this order:

1. A semicolon behind it, and a type that Python cannot parse: TypeScript.
2. What only one language has: ``Name[T]``, ``None``, ``dict[str, int]`` in Python; ``{ … }``,
   ``[ … ]``, ``'a' | 'b'``, ``&`` in TypeScript.
3. The names in it: ``str`` or ``list`` against ``string`` or ``any``, what the UI half declares
   or imports, and what nothing in the file defines, which Python could not use.
4. Names of the Python half alone: Python while Python is read. Behind UI code they may as well
   be types of the browser (``Event``), so that it remains open.

Called by `walk`.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Flag, auto

import attrs

from fxtrio.compile.check.names.auto_imports import WITH_ACTION, WITH_LOADER
from fxtrio.compile.split.python_statements import Broken, logical_line, parse

_ALIAS = re.compile(r"(?m)^type[ \t]++(?P<name>\w++)[ \t]*+(?:=(?!=)|(?P<generic>\[))")
_LONGEST_CHAIN = 10  # aliases of aliases
_MOST_READ = 4  # how often, on average, a character may be read; then names tell no more
_CONTINUED = re.compile(r"[ \t]*+[|&?]")

_PYTHON_TYPES = frozenset(
    {"bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "int", "list"}
    | {"memoryview", "range", "set", "slice", "str", "tuple", "type"}
)
_BOTH_HAVE = re.compile(r"object|\w*(?:Error|Exception|Warning|Group)")
_TYPE_OPERATORS = frozenset({"keyof", "readonly", "typeof", "unique"})

_PYTHON_NAMES = re.compile(
    r"""(?m)^(?:(?P<assigned>\w++)[ \t]*+(?::[^=\n]*+)?=(?![=>]) | [ \t]*+(?:
      (?:async[ \t]++)?(?:def|class)[ \t]++(?P<defined>\w++)[ \t]*+[(:\[]
    | from[ \t]++[\w.]++[ \t]++import[ \t]*+(?P<taken>\([^()]*+\)|[^\n"'(]*+)$
    | import[ \t]++(?P<imported>\w[\w., \t]*+)(?:\#[^\n]*+)?$
    ))""",
    re.VERBOSE,
)
_UI_NAMES = re.compile(
    r"""(?m)^[ \t]*+(?:
      (?:export|declare)[ \t]++(?:declare[ \t]++)?type[ \t]++(?P<type>[\w$]++)
    | type[ \t]++(?P<generic>[\w$]++)[ \t]*+<
    | import\s++(?P<imported>(?:(?!\n[ \t]*+import\b)[^"';()])*?)\bfrom\s*+["']
    | (?:export[ \t]++)?(?:default[ \t]++)?(?:declare[ \t]++)?(?:
        (?:interface|enum|namespace)[ \t]++(?P<declared>[\w$]++)
      | (?:abstract[ \t]++)?class[ \t]++(?P<class>[\w$]++)\s*+(?:\{|<|extends\b|implements\b)
      )
    )""",
    re.VERBOSE,
)
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")


class Side(Flag):
    """What speaks for which language."""

    NOTHING = 0
    MAYBE_PYTHON = auto()
    """Only names that the Python half has, which may mean something else in TypeScript."""

    PYTHON = auto()
    UI = auto()
    BOTH = PYTHON | UI


@attrs.frozen
class Alias:
    """One statement."""

    name: str
    side: Side
    """What its own form says, without its names."""

    length: int
    """Characters that were read of it."""

    names: frozenset[str] = frozenset()
    """The names that its value uses."""


class Aliases:
    """The type aliases of one file. Its text is searched for names once there is one."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._python: set[str] = set()
        self._ui: set[str] = set()
        self._plain: dict[str, int] = {}
        self._imports_all = False
        self._searched = False
        self._read: dict[int, Alias] = {}
        self._unread = _MOST_READ * len(text) + 10_000
        self._maybe: dict[str, int] = {}

    def side_at(self, offset: int, *, after_ui: bool) -> Side:
        """Say which language the alias at ``offset`` is; `NOTHING` when that remains open.

        `MAYBE_PYTHON` is Python, unless `unused` says otherwise in the end.
        """
        if not self._searched:
            self._search()
        if self._unread < 0:
            return Side.NOTHING
        alias = self._alias_at(offset)
        side = self._side_of(alias, {alias.name})
        decisive = side & Side.BOTH
        if decisive is Side.BOTH:
            return Side.NOTHING
        if decisive:
            return decisive
        if after_ui:
            return Side.NOTHING if side else Side.UI
        if side:
            self._maybe.setdefault(alias.name, offset)
        return side

    def unused(self, python: Iterable[str], ui: Iterable[str]) -> Iterator[int]:
        """Yield where aliases are that were perhaps Python, and that only the UI half uses."""
        if self._maybe:
            in_python = Counter(_IDENTIFIER.findall("".join(python)))
            in_ui = set(_IDENTIFIER.findall("".join(ui))) - self._ui
            for name, offset in self._maybe.items():
                if in_python[name] <= 1 and name in in_ui:
                    yield offset

    def _alias_at(self, offset: int) -> Alias:
        if offset not in self._read:
            self._read[offset] = alias = read_alias(self._text, offset)
            self._unread -= alias.length
        return self._read[offset]

    def _side_of(self, alias: Alias, seen: set[str]) -> Side:
        side = alias.side
        for name in sorted(alias.names - {alias.name}):
            side |= self._side_of_name(name, seen)
        return side

    def _side_of_name(self, name: str, seen: set[str]) -> Side:
        python, ui = name in self._python, name in self._ui
        if python or ui:
            return Side.NOTHING if python and ui else Side.UI if ui else Side.MAYBE_PYTHON
        if name in self._plain:
            if name in seen or len(seen) == _LONGEST_CHAIN or self._unread < 0:
                return Side.NOTHING
            seen.add(name)
            return self._side_of(self._alias_at(self._plain[name]), seen)
        if name in _PYTHON_TYPES:
            return Side.PYTHON
        if _BOTH_HAVE.fullmatch(name) or (self._imports_all and name != "any"):
            return Side.NOTHING
        return Side.UI

    def _search(self) -> None:
        """Find the names that lines of Python define, and the types of UI code.

        They are rather too many than too few.
        """
        self._searched = True
        self._python.update(WITH_LOADER, WITH_ACTION)
        for found in _PYTHON_NAMES.finditer(self._text):
            taken = found["taken"] or ""
            self._imports_all = self._imports_all or "*" in taken
            words = taken + " " + (found["imported"] or "")
            self._python.update(_IDENTIFIER.findall(words))
            self._python.update(filter(None, (found["defined"], found["assigned"])))
        for found in _UI_NAMES.finditer(self._text):
            self._ui.update(*(_IDENTIFIER.findall(part) for part in found.groups() if part))
        for found in _ALIAS.finditer(self._text):
            if found["generic"]:
                self._python.add(found["name"])
            else:
                self._plain.setdefault(found["name"], found.start())


def is_alias(text: str, offset: int) -> bool:
    """Whether a statement of this form is at ``offset``, the start of a line."""
    return _ALIAS.match(text, offset) is not None


def next_alias(text: str, offset: int, end: int) -> int:
    """Return where the next line of this form starts, or ``end``."""
    found = _ALIAS.search(text, offset, end)
    return end if found is None else found.start()


def read_alias(text: str, offset: int) -> Alias:
    """Return what the alias at ``offset`` says by itself."""
    found = _ALIAS.match(text, offset)
    if found is None:
        raise ValueError(f"there is no type alias at {offset}")
    name = found["name"]
    if found["generic"]:
        return Alias(name, Side.PYTHON, 0)
    line = logical_line(text, offset)
    length = line.end - offset
    value = text[found.end() : line.end]
    parsed = parse(f"({value}\n)") if line.closed and line.last not in ("=", ";") else []
    if isinstance(parsed, Broken) or len(parsed) != 1 or not isinstance(parsed[0], ast.Expr):
        return Alias(name, Side.UI, length)
    reader = _Reader()
    reader.read(parsed[0].value)
    side = reader.side | (Side.UI if _CONTINUED.match(text, line.end) else Side.NOTHING)
    return Alias(name, side, length, frozenset(reader.names))


class _Reader:
    """Reads the value of an alias as Python, and notes what only one language means by it."""

    def __init__(self) -> None:
        self.side = Side.NOTHING
        self.names: set[str] = set()

    def read(self, node: ast.expr, *, indexed: bool = False) -> None:
        if isinstance(node, ast.Name):
            self.names.add(node.id)
        elif isinstance(node, ast.Attribute):
            self.read(node.value)
        elif isinstance(node, ast.Subscript):
            self.read(node.value)
            self.read(node.slice, indexed=True)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd):
            self.side |= Side.UI if isinstance(node.op, ast.BitAnd) else Side.NOTHING
            self.read(node.left)
            self.read(node.right)
        elif isinstance(node, ast.Constant) and type(node.value) in (str, int, float):
            self.side |= Side.NOTHING if indexed else Side.UI
        elif isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            self.side |= Side.UI
        elif isinstance(node, ast.Dict | ast.Set | ast.List):
            self.side |= Side.UI
            for part in node.values if isinstance(node, ast.Dict) else node.elts:
                self.read(part)
        elif _is_comment(node) or _is_type_operator(node):
            self.side |= Side.UI
        else:
            self.side |= Side.PYTHON


def _is_comment(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv)


def _is_type_operator(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in _TYPE_OPERATORS
