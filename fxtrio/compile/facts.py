"""The Python half of a page file in, what it declares and what is wrong with it out. Pure.

Called by `project`; the result becomes the file's entry in the manifest.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

import attrs

from fxtrio.compile.marks import Marks, read_marks
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText
from fxtrio.errors import HeadRefused
from fxtrio.head import parse_head
from fxtrio.manifest import HeadNode

Definition = ast.FunctionDef | ast.AsyncFunctionDef

_NO_LITERAL = object()


@attrs.frozen
class Facts:
    """What the Python half of one file declares; see `PageModule` for each."""

    loader: str | None = None
    actions: tuple[str, ...] = ()
    websocket: bool = False
    to_markdown: bool = False
    head: tuple[HeadNode, ...] = ()
    head_function: bool = False
    revalidate: float | None = None
    memo: bool = True
    standalone: bool = False
    problems: tuple[Problem, ...] = ()


def read_facts(source: SourceText, python: str) -> Facts:
    """Return what ``python``, the blanked Python half of ``source``, declares."""
    try:
        module = ast.parse(python)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Facts()  # the split has reported it
    return _Reader(source, module).read()


class _Site(NamedTuple):
    """A function, and whether it stands directly in the module."""

    function: Definition
    at_module_level: bool


class _Reader:
    def __init__(self, source: SourceText, module: ast.Module) -> None:
        self._source = source
        self._module = module
        self._marks: Marks = read_marks(module)
        self._problems: list[Problem] = []
        self._found: dict[str, Any] = {}

    def read(self) -> Facts:
        loaders: list[str] = []
        actions: list[str] = []
        for site in _functions(self._module):
            self._read_marked(site, loaders, actions)
        for statement in self._module.body:
            self._read_statement(statement)
        for name in ("websocket", "to_markdown"):
            if name in self._marks.bound:
                self._found[name] = True
        return Facts(
            loader=loaders[0] if loaders else None,
            actions=tuple(actions),
            problems=tuple(sorted(self._problems)),
            **self._found,
        )

    def _read_marked(self, site: _Site, loaders: list[str], actions: list[str]) -> None:
        """Check a function that bears a mark, and note its name."""
        function = site.function
        marks = {mark for mark in map(self._marks.of, function.decorator_list) if mark}
        if not marks:
            return
        name = function.name
        if len(marks) == 2:
            self._report(function, f"{name!r} is marked @server and @action", "Write two functions")
            return
        mark = marks.pop()
        if not site.at_module_level:
            self._report(
                function,
                f"@{mark} {name!r} is not at module level",
                "Move it out of the class, function or block around it",
            )
            return
        self._check_async(function, f"@{mark} {name!r}")
        self._check_request(function, mark)
        if mark == "server":
            if loaders:
                self._report(
                    function,
                    f"{name!r} is a second @server function, after {loaders[0]!r}",
                    "Load everything in one of them",
                )
            loaders.append(name)
        elif name in actions:
            self._report(function, f"there is another @action {name!r}", "Rename one of them")
        else:
            actions.append(name)

    def _check_async(self, function: Definition, what: str) -> None:
        if isinstance(function, ast.FunctionDef):
            self._report(function, f"{what} is not async", f"Write 'async def {function.name}'")

    def _check_request(self, function: Definition, mark: str) -> None:
        """Check that a marked function can be called with the request (and a body)."""
        arguments = function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        taken = 1 if mark == "server" else 2
        if not positional and arguments.vararg is None:
            self._report(
                function,
                f"@{mark} {function.name!r} has no parameter for the request",
                f"Write '{function.name}(request)'",
            )
        elif len(positional) - len(arguments.defaults) > taken or None in arguments.kw_defaults:
            self._report(
                function,
                f"@{mark} {function.name!r} has parameters that nobody passes",
                "Keep the request" + (" and a body model" if mark == "action" else ""),
            )

    def _read_statement(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            if statement.name == "HEAD":
                self._read_head_function(statement)
            elif statement.name == "websocket":
                self._check_async(statement, "'websocket'")
                if not (statement.args.posonlyargs or statement.args.args):
                    self._report(
                        statement,
                        "'websocket' has no parameter for the WebSocket",
                        "Write 'websocket(ws)'",
                    )
            return
        for name, value in _assigned(statement):
            if value is None:
                continue
            if name == "HEAD":
                self._read_head(value)
            elif name == "CACHE":
                self._read_cache(value)
            elif name in ("MEMO", "STANDALONE"):
                self._read_flag(name, value)

    def _read_head_function(self, function: Definition) -> None:
        if isinstance(function, ast.AsyncFunctionDef):
            self._report(function, "'HEAD' is async", "Write 'def HEAD(data)'; load in the loader")
        if len(function.args.posonlyargs) + len(function.args.args) != 1:
            self._report(function, "'HEAD' does not take one parameter", "Write 'def HEAD(data)'")
        self._found["head_function"] = True

    def _read_head(self, value: ast.expr) -> None:
        literal = _literal(value)
        texts = [literal] if isinstance(literal, str) else literal
        if not isinstance(texts, list | tuple) or not all(isinstance(t, str) for t in texts):
            self._report(
                value,
                "HEAD is neither a str nor a list of str",
                "Write it as a literal, or as a function 'def HEAD(data)'",
            )
            return
        nodes: list[HeadNode] = []
        for text in texts:
            try:
                nodes += parse_head(text)
            except HeadRefused as error:
                self._report(value, f"HEAD: {error.cause}", "Remove it")
        self._found["head"] = tuple(nodes)

    def _read_cache(self, value: ast.expr) -> None:
        literal = _literal(value)
        seconds = literal.get("revalidate") if isinstance(literal, dict) else None
        known = isinstance(literal, dict) and set(literal) == {"revalidate"}
        if not known or isinstance(seconds, bool) or not isinstance(seconds, int | float):
            self._report(
                value,
                "CACHE is not a dict with 'revalidate' in seconds",
                'Write CACHE = {"revalidate": 60}',
            )
        elif seconds <= 0:
            self._report(value, "CACHE revalidates after no time", "Give seconds above 0")
        else:
            self._found["revalidate"] = float(seconds)

    def _read_flag(self, name: str, value: ast.expr) -> None:
        literal = _literal(value)
        if not isinstance(literal, bool):
            self._report(value, f"{name} is not True or False", f"Write {name} = True or False")
            return
        self._found[name.lower()] = literal

    def _report(self, node: ast.stmt | ast.expr, message: str, remedy: str) -> None:
        line, column = node.lineno, node.col_offset
        if isinstance(node, ast.AsyncFunctionDef):
            column += len("async def ")
        elif isinstance(node, ast.FunctionDef):
            column += len("def ")
        self._problems.append(self._source.node_problem(line, column, message, remedy))


def _functions(module: ast.Module) -> Iterator[_Site]:
    """Yield every function of a module, in the order of the file."""
    unread: list[tuple[ast.AST, bool]] = [(node, True) for node in reversed(module.body)]
    while unread:
        node, at_module_level = unread.pop()
        if isinstance(node, Definition):
            yield _Site(node, at_module_level)
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            inner = [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.expr)]
            unread += [(part, False) for part in reversed(inner)]


def _assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the names that a module-level assignment gives a value."""
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                yield target.id, statement.value
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id, statement.value


def _literal(value: ast.expr) -> Any:
    try:
        return ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return _NO_LITERAL
