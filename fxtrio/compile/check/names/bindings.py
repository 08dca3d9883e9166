"""Names: which ones Python statements and UI code bind and use, and which stay undefined."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import NamedTuple

_DECLARATION = re.compile(
    r"""\s*+(?:export\s++)?(?:default\s++)?(?:declare\s++)?(?:
      (?:abstract\s++)?(?:async\s++)?
      (?:function\b[\s*]*+|(?:class|enum|interface|type|namespace)\s++)(?P<name>[\w$]+)
    | (?:const|let|var)\s++(?P<variables>[^=;]*+)
    | import\s++(?P<imported>[^"';]*+)["']
    )""",
    re.VERBOSE,
)
_FORMATTED = frozenset({"JoinedStr", "TemplateStr"})  # the latter since Python 3.14
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")


def bound_by_ui(chunk: str) -> set[str]:
    """Return the names that a UI statement declares or imports; rather too many than too few."""
    found = _DECLARATION.match(chunk)
    if found is None:
        return set()
    return set(_IDENTIFIER.findall(found["name"] or found["variables"] or found["imported"] or ""))


def identifiers(chunk: str) -> set[str]:
    """Return every word in a piece of UI code."""
    return set(_IDENTIFIER.findall(chunk))


class Names(NamedTuple):
    """The module-level names of Python statements."""

    bound: set[str]
    """Rather too many than too few."""

    used: set[str]
    awaits: bool
    """Whether there is an ``await`` outside of functions, which only JavaScript allows."""

    formats: bool
    """Whether there is a formatted string, which only Python has."""


def names_of(statements: Iterable[ast.stmt]) -> Names:
    """Return the names that statements bind and read; of a definition only its own name."""
    bound: set[str] = set()
    used: set[str] = set()
    awaits = formats = False
    unread: list[ast.AST] = [*statements]
    while unread:
        node = unread.pop()
        if isinstance(node, ast.Name):
            (used if type(node.ctx) is ast.Load else bound).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name.partition(".")[0])
        elif not isinstance(node, ast.Constant):
            awaits = awaits or isinstance(node, ast.Await)
            formats = formats or type(node).__name__ in _FORMATTED
            for field in node._fields:
                value = getattr(node, field, None)
                if isinstance(value, list):
                    unread += [part for part in value if isinstance(part, ast.AST)]
                elif isinstance(value, ast.AST):
                    unread.append(value)
    return Names(bound, used, awaits, formats)
