"""Where a Python statement ends, and whether it parses.

Only column 0 matters here: a statement is one logical line, and for compound
ones the indented lines and ``else``-like clauses below it.
"""

from __future__ import annotations

import ast
import re
import threading
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeVar

import attrs

from fxtrio.compile.split.format_strings import STRING, prefix_of, read_formatted
from fxtrio.compile.split.newer_syntax import OLDEST, in_older_words

Result = TypeVar("Result")

MOST_DEPTH = 200
"""Levels of a tree that is walked through. Walkers take up to four calls for each of them, and
Python stops at a thousand."""

TOO_DEEP = "it is nested too deeply"

_PARSING = threading.RLock()
"""Held while parsing: see `parse_source`. The filters of warnings are the process's, too."""

MARKER = re.compile(r"(?m)^# --- ui ---[ \t]*$")

_PART = re.compile(
    rf"""
    (?P<plain>[^\n"'#()\[\]{{}}\\]++)
  | (?P<newline>\n)
  | (?P<comment>\#[^\n]*+)
  | (?P<string>{STRING})
  | (?P<open>[(\[{{])
  | (?P<close>[)\]}}])
  | (?P<escape>\\\n?)
  | (?P<endless>\"{{3}}|'{{3}})
  | (?P<quote>["'])
    """,
    re.VERBOSE,
)
_STRING_END = re.compile(r"[^\\\n]*+(?:\\[\s\S][^\\\n]*+)*+")
# Nothing in brackets starts a line like this, in column 0: the bracket was never closed.
_NEVER_IN_BRACKETS = re.compile(
    r"(?:async[ \t]++)?(?:def|function)[ \t]|(?:class|import|export|const)[ \t]|@\w"
    r"|from[ \t]++[\w.]++[ \t]++import\b"
)
_NO_CODE = r"[ \t\f]*+(?:#(?! --- ui ---[ \t]*+(?:\n|\Z))[^\n]*+)?"
_SKIPPED = re.compile(rf"(?>(?:{_NO_CODE}\n)*)(?:{_NO_CODE}\Z)?")
_CLAUSE = re.compile(r"(?:else|elif|except|finally)\b")
_DEFINITION = re.compile(r"(?:async[ \t]++)?def\b|class[ \t]++\w++[ \t]*+[:(\[]")


class LogicalLine(NamedTuple):
    """A line with what brackets, backslashes and strings join to it."""

    end: int
    """Offset of the next line."""

    last: str
    """The last character that is neither space nor comment; "" for none."""

    closed: bool
    """Whether all its brackets and strings end."""


class Extent(NamedTuple):
    """A whole statement."""

    end: int
    """Offset of the line after it."""

    last: str
    """Its last character that is neither space nor comment."""


@attrs.frozen
class Broken:
    """Why code does not parse."""

    line: int
    """1-based, counted from the start of the statement."""

    column: int
    """1-based, in characters."""

    message: str


def logical_line(text: str, offset: int) -> LogicalLine:
    """Return the extent of the logical line that starts at ``offset``."""
    depth = 0
    last = ""
    match = _PART.match
    unclosed: dict[str, int] = {}  # quotes, and up to where none of them begins a string
    while True:
        if unclosed and offset < unclosed.get(text[offset : offset + 1], 0):
            offset, last = offset + 1, '"'
            continue
        if (found := match(text, offset)) is None:
            return LogicalLine(len(text), last, closed=depth == 0)
        kind = found.lastgroup
        offset = found.end()
        if kind == "newline":
            if depth == 0:
                return LogicalLine(offset, last, closed=True)
            if _NEVER_IN_BRACKETS.match(text, offset):
                return LogicalLine(offset, last, closed=False)
        elif kind == "plain":
            last = found.group().rstrip()[-1:] or last
        elif kind == "open":
            depth += 1
            last = "("
        elif kind == "close":
            depth = max(depth - 1, 0)
            last = ")"
        elif kind != "comment" and (end := _end_of_formatted(text, found)):
            offset, last = end, '"'
        elif kind == "endless":
            return LogicalLine(len(text), last, closed=False)
        elif kind == "quote":
            last = '"'
            unclosed[found.group()] = _STRING_END.match(text, offset).end()  # type: ignore[union-attr]  # matches ""
        elif kind != "comment":
            last = '"'


def _end_of_formatted(text: str, found: re.Match[str]) -> int | None:
    """Return the offset behind the formatted string that starts with ``found``, if one does."""
    start = found.start()
    if found.lastgroup == "escape" or text[start - 1 : start] not in "fFrRtT":
        return None
    string = read_formatted(text, start) if prefix_of(text, start) else None
    return None if string is None else string.end


def statement(text: str, offset: int) -> Extent:
    """Return the extent of the Python statement that starts at ``offset``."""
    line = logical_line(text, offset)
    while text.startswith("@", offset) and line.closed:
        offset = skip_blank(text, line.end)
        if not (text.startswith("@", offset) or _DEFINITION.match(text, offset)):
            break
        line = logical_line(text, offset)
    last, end = line.last, line.end
    in_block = line.last == ":"
    while line.closed:
        offset = skip_blank(text, end)
        if not (in_block and text[offset : offset + 1] in (" ", "\t")):
            if not _CLAUSE.match(text, offset):
                break
            in_block = True
        line = logical_line(text, offset)
        last, end = line.last, line.end
    return Extent(end, last)


def skip_blank(text: str, offset: int) -> int:
    """Return the next line start, from ``offset`` on, of a line with code on it."""
    found = _SKIPPED.match(text, offset)
    return found.end() if found else offset


def parse_source(code: str) -> ast.Module:
    """Return a module as `ast.parse` does, one thread after the other.

    Its grammar is that of the Python that runs. Python 3.11 and 3.12 count the depth of all
    trees that are built at the same time together, and fail when threads interleave.
    Raises SyntaxError for what has more than MOST_DEPTH levels as well, so that whoever walks
    through a tree need not fear its depth.
    """
    return _parse(code)


def _parse(code: str, grammar: tuple[int, int] | None = None) -> ast.Module:
    with _PARSING:
        try:
            module = ast.parse(code, feature_version=grammar)
        except (RecursionError, MemoryError):
            raise SyntaxError(TOO_DEEP) from None
    _reject_deep(module)
    return module


@lru_cache(maxsize=1)
def nodes_of(module: ast.Module) -> tuple[ast.AST, ...]:
    """Return all nodes of a tree, each after the one that it is in.

    One text after the other is checked, each by a dozen checks: their way through the tree is
    most of what they cost.
    """
    return tuple(ast.walk(module))


def _reject_deep(module: ast.Module) -> None:
    """Raise SyntaxError at the first statement or expression that is too many levels down."""
    level: list[ast.AST] = [module]
    for _ in range(MOST_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    for node in level:
        if isinstance(node, ast.stmt | ast.expr | ast.pattern):
            raise SyntaxError(TOO_DEEP, ("", node.lineno, node.col_offset + 1, None))
    raise SyntaxError(TOO_DEEP)


def parse(code: str) -> list[ast.stmt] | Broken:
    """Return the statements of ``code``, or why it does not parse; the same on every Python.

    Formatted strings may lack their fields, and type aliases are assignments.
    Python may warn of what it reads; callers decide where that goes.
    """
    result = _attempt(lambda: _parse_oldest(code))
    if isinstance(result, Broken) and (older := in_older_words(code)) != code:
        again = _attempt(lambda: _parse_oldest(older))
        result = result if isinstance(again, Broken) else again
    return result if isinstance(result, Broken) else result.body


def _parse_oldest(code: str) -> ast.Module:
    return _parse(code, OLDEST)


def parse_module(code: str) -> ast.Module | Broken:
    """Return a whole module, or why it does not parse; without its warnings."""
    with _PARSING, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they come when the code is imported
        return _attempt(lambda: parse_source(code))


def compile_error(code: str) -> Broken | None:
    """Return why code that parses cannot be compiled, such as an ``await`` outside a function."""
    with _PARSING, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = _attempt(lambda: compile(code, "<page>", "exec", dont_inherit=True))
    return result if isinstance(result, Broken) else None


def _attempt(work: Callable[[], Result]) -> Result | Broken:
    try:
        return work()
    except SyntaxError as error:
        return Broken(error.lineno or 1, max(error.offset or 1, 1), error.msg)
    except (RecursionError, MemoryError):
        return Broken(1, 1, TOO_DEEP)
    except ValueError as error:
        return Broken(1, 1, str(error))
