"""The Python half of a page file in, its declarations and problems out. Pure.

Called by `project`; the result becomes the file's entry in the manifest.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any

from fxtrio.compile.check import constants
from fxtrio.compile.check.constants import NotConstant
from fxtrio.compile.check.declarations import RESERVED, VALUES, Facts, Kind
from fxtrio.compile.check.decorator_names import Mark, Marks
from fxtrio.compile.check.function_definitions import (
    Definition,
    call_problems,
    is_generator,
    marked_inside,
    stream_problems,
    streaming_problems,
    tool_problems,
)
from fxtrio.compile.check.literal_statuses import STATUS_REMEDY, wrong_returned
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText
from fxtrio.head import HeadInvalid, parse_head
from fxtrio.manifest import HeadNode
from fxtrio.origin import is_allowed_form

_HOOKS = {"websocket": "async def websocket(ws)", "to_markdown": "def to_markdown(ctx)"}
_PATHS = {"paths": "async def paths()"}
"""What pages have besides whose URLs have parameters; elsewhere the name is the application's."""
_DEF = re.compile(r"(?:(?:async\s+)?def|class)\s+")
# Where a declaration has an effect; what is not here has one in every file.
_AT_HOME: dict[str, tuple[Kind, ...]] = {
    "@action": ("page", "actions"),
    "@stream": ("page",),
    "websocket": ("page",),
    "to_markdown": ("page",),
    "@server": ("page", "layout", "template", "error", "not-found"),
    **{name: value.kinds for name, value in VALUES.items() if value.kinds},
}


ORIGIN_REMEDY = "Write scheme, host and port, such as 'https://example.com', or [] to allow all"

_LITERALS = (ast.List, ast.Tuple, ast.Set)


def kind_of(path: str) -> Kind:
    """Return what kind of file a source is, by its name."""
    name = path.rpartition("/")[2].removesuffix(".fxl")
    special: tuple[Kind, ...] = ("layout", "template", "error", "not-found", "loading")
    return next((kind for kind in special if kind == name), "page")


def read_facts(source: SourceText, module: ast.Module) -> tuple[Facts, list[Problem]]:
    """Return what the Python half of ``source`` declares, and every mistake in that."""
    reader = _Reader(source)
    reader.read_block(module.body, nested=False)
    if "origin_allowed" in source.text:
        for node, origin in malformed_origins(module):
            reader._report(node, f"origin_allowed: {origin!r} is not an origin", ORIGIN_REMEDY)
    facts = Facts(
        loader=reader.loaders[0][0] if reader.loaders else None,
        actions=tuple(reader.actions),
        streams=tuple(reader.streams),
        head=tuple(reader.head),
        **reader.found,
    )
    return facts, reader.problems


def read_actions(source: SourceText, module: ast.Module) -> tuple[tuple[str, ...], list[Problem]]:
    """Return the actions of a module of actions, and every mistake in them."""
    reader = _Reader(source, kind="actions")
    reader.read_block(module.body, nested=False)
    return tuple(reader.actions), reader.problems


class _Reader:
    """Follows a module from top to bottom, as Python does when it runs it."""

    def __init__(self, source: SourceText, kind: Kind | None = None) -> None:
        """``kind`` is by default that of a page file, by its name."""
        self.loaders: list[tuple[str, int]] = []
        """Names of the `@server` functions and their lines."""

        self.actions: list[str] = []
        self.streams: list[str] = []
        self.head: list[HeadNode] = []
        self.found: dict[str, Any] = {}
        """All other facts."""

        self.problems: list[Problem] = []
        self._source = source
        self._kind = kind_of(source.path) if kind is None else kind
        self._reserved = frozenset() if kind == "actions" else RESERVED
        self._hooks = {} if kind == "actions" else _HOOKS
        if self._kind == "page" and "[" in source.path:
            self._hooks = {**self._hooks, **_PATHS}
        self._marks = Marks()
        self._declared: dict[str, tuple[int, str]] = {}
        """Name to the line and the kind of what the compiler found under it."""

    def read_block(self, statements: Iterable[ast.stmt], *, nested: bool) -> None:
        """Read statements of module scope; ``nested`` ones stand in an ``if`` or the like."""
        for statement in statements:
            if isinstance(statement, Definition):
                self._read_function(statement, nested=nested)
            elif isinstance(statement, ast.ClassDef):
                self._read_class(statement)
            elif isinstance(statement, ast.Import | ast.ImportFrom):
                for name in self._marks.bind_import(statement):
                    self._bound(name, statement)
            elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
                self._read_assignment(statement, nested=nested)
            else:
                self._read_other(statement)

    def _read_class(self, node: ast.ClassDef) -> None:
        name = node.name
        self._reject_marks_inside(node)
        marks = [mark for mark in map(self._marks.of, node.decorator_list) if mark is not None]
        self._bind(name, node)
        if marks:
            remedy = f"Write 'async def {name}(request)'"
            self._report(node, f"@{marks[0]} {name!r} is a class", remedy)
            self._note_marked(node, marks[0])
        elif name in self._hooks:
            call = self._hooks[name]
            self._report(node, f"{name!r} is a class", f"Write '{call}'")
        elif name in self._reserved:
            self._report(node, f"{name} is a class", f"Give {name} a literal value")

    def _read_function(self, function: Definition, *, nested: bool) -> None:
        name = function.name
        found = map(self._marks.of, function.decorator_list)
        marks = [mark for mark in found if mark is not None]
        self._reject_marks_inside(function)
        self._bind(name, function)
        if len(set(marks)) > 1:
            both = " and ".join(f"@{mark}" for mark in dict.fromkeys(marks))
            message = f"{name!r} is marked {both}"
            self._report(function, message, "Write two functions")
        elif marks:
            self._read_marked(function, marks[0], nested=nested)
        elif (name in self._reserved or name in self._hooks) and nested:
            self._reject_nested(function, f"{name!r}")
        elif name == "HEAD" and self._reserved:
            self._read_head_function(function)
        elif name in self._hooks:
            self._read_hook(function)
        elif name in self._reserved:
            self._report(function, f"{name} is a function", f"Give {name} a literal value")

    def _read_marked(self, function: Definition, mark: Mark, *, nested: bool) -> None:
        name, what = function.name, f"@{mark} {function.name!r}"
        if nested:
            self._reject_nested(function, what)
            return
        self._reject_elsewhere(function, f"@{mark}")
        if mark == "action":
            self._check_call(function, what, ("request", "body"), may_yield=True)
            for message, remedy in (*streaming_problems(function), *tool_problems(function)):
                self._report(function, f"{what} {message}", remedy)
        elif mark == "stream":
            for message, remedy in stream_problems(function):
                self._report(function, f"{what} {message}", remedy)
        else:
            self._check_call(function, what, ("request",))
        self._note_marked(function, mark)
        for value, status in wrong_returned(function) if mark == "server" else ():
            self._report(value, f"{what}: the status is {status!r:.40}", STATUS_REMEDY)
        if mark == "server" and len(self.loaders) > 1:
            first, line = self.loaders[0]
            message = f"{name!r} is a second @server function, after {first!r} in line {line}"
            self._report(function, message, "Load everything in one of them")
        self._declared[name] = function.lineno, f"@{mark} function"

    def _note_marked(self, node: Definition | ast.ClassDef, mark: Mark) -> None:
        if mark == "action":
            self.actions.append(node.name)
        elif mark == "stream":
            self.streams.append(node.name)
        else:
            self.loaders.append((node.name, node.lineno))

    def _read_hook(self, function: Definition) -> None:
        name = function.name
        self._reject_elsewhere(function, name)
        if name == "websocket":
            self._check_call(function, "'websocket'", ("ws",))
            self.found["websocket"] = True
        elif name == "paths":
            self._check_call(function, "'paths'", ())
            self.found["paths"] = True
        else:
            self._check_call(function, "'to_markdown'", ("ctx",), must_wait=False)
            self.found["to_markdown"] = True
        self._declared[name] = function.lineno, "function"

    def _read_head_function(self, function: Definition) -> None:
        if isinstance(function, ast.AsyncFunctionDef):
            remedy = "Write 'def HEAD(data)', and let the loader wait"
            self._report(function, "'HEAD' is async", remedy)
        self._check_call(function, "'HEAD'", ("data",), must_wait=False)
        self.found["head_function"] = True
        self._declared["HEAD"] = function.lineno, "function"

    def _check_call(
        self,
        function: Definition,
        what: str,
        parameters: tuple[str, ...],
        *,
        must_wait: bool = True,
        may_yield: bool = False,
    ) -> None:
        """Check that the runtime can call a function with ``parameters``."""
        if must_wait and isinstance(function, ast.FunctionDef):
            self._report(function, f"{what} is not async", f"Write 'async def {function.name}'")
        elif not may_yield and is_generator(function):
            self._report(function, f"{what} has a yield", "Return the whole value")
        for message, remedy in call_problems(function, parameters):
            self._report(function, f"{what} {message}", remedy)

    def _read_assignment(
        self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, *, nested: bool
    ) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = node.value
        if value is None:  # a bare annotation
            return
        if isinstance(value, ast.Call) and (mark := self._marks.of(value)) is not None:
            message = f"{mark}() is called as a function"
            self._report(value, message, f"Write '@{mark}' above the function")
        for target in targets:
            if not isinstance(target, ast.Name):
                self._bind_all(target)
            elif isinstance(node, ast.AugAssign) and target.id in self._reserved:
                self._report(node, f"{target.id} is changed", "Give it its whole value at once")
            else:
                self._bind(target.id, node, value)
                if target.id in self._reserved and nested:
                    self._reject_nested(node, target.id)
                elif target.id in self._reserved:
                    self._read_value(target.id, value)

    def _read_value(self, name: str, value: ast.expr) -> None:
        self._declared[name] = value.lineno, "value"
        self._reject_elsewhere(value, name)
        if name == "HEAD":
            self._read_head(value)
        else:
            expected = VALUES[name]
            found = expected.read(value)
            if found is None:
                self._report(value, f"{name} is not {expected.form}", expected.remedy)
            else:
                self.found[expected.field] = found

    def _read_head(self, value: ast.expr) -> None:
        try:
            parts = constants.texts(value)
        except NotConstant:
            message = "HEAD is neither a str nor a list of str that can be read without running it"
            self._report(value, message, "Write literals, or a function 'def HEAD(data)'")
            return
        for text in parts:
            try:
                self.head += parse_head(text.value)
            except HeadInvalid as error:
                place = text.place(self._source, error.line, error.column)
                problem = Problem(self._source.path, *place, f"HEAD: {error.cause}", "Remove it")
                self.problems.append(problem)

    def _read_other(self, statement: ast.stmt) -> None:
        """Read a compound statement, whose blocks are module scope, or one of no interest."""
        for _, value in ast.iter_fields(statement):
            parts = value if isinstance(value, list) else [value]
            for part in parts:
                if isinstance(part, ast.stmt):
                    self.read_block([part], nested=True)
                elif isinstance(part, ast.ExceptHandler | ast.match_case):
                    self.read_block(part.body, nested=True)
                elif isinstance(part, ast.expr | ast.withitem):
                    self._bind_all(part)

    def _bind_all(self, node: ast.AST) -> None:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                self._bind(part.id, part)

    def _bind(self, name: str, node: ast.stmt | ast.expr, value: ast.expr | None = None) -> None:
        self._marks.bind(name, value)
        self._bound(name, node)

    def _bound(self, name: str, node: ast.stmt | ast.expr) -> None:
        """Report that ``node`` takes the name of something that the compiler found before."""
        if name in self._declared:
            line, what = self._declared.pop(name)
            message = f"{name!r} is defined again and replaces the {what} of line {line}"
            self._report(node, message, "Rename one of them")

    def _reject_marks_inside(self, node: Definition | ast.ClassDef) -> None:
        for function, mark in marked_inside(node, self._marks):
            self._reject_nested(function, f"@{mark} {function.name!r}")

    def _reject_nested(self, node: ast.stmt, what: str) -> None:
        remedy = "Move it out of the function, class or block around it"
        self._report(node, f"{what} is not at module level", remedy)

    def _reject_elsewhere(self, node: ast.stmt | ast.expr, what: str) -> None:
        home = _AT_HOME.get(what)
        if home is not None and self._kind not in home:
            message = f"{what} has no effect in {self._kind} files"
            self._report(node, message, f"Remove it; it belongs in {' and '.join(home)} files")

    def _report(self, node: ast.stmt | ast.expr, message: str, remedy: str) -> None:
        offset = self._source.offset_of(node.lineno, node.col_offset)
        if isinstance(node, Definition | ast.ClassDef) and (
            found := _DEF.match(self._source.text, offset)
        ):
            offset = found.end()
        self.problems.append(self._source.problem(offset, message, remedy))


def malformed_origins(module: ast.Module) -> Iterator[tuple[ast.expr, str]]:
    """Yield each literal that no Origin can equal, in calls and in the lists of the module."""
    lists: dict[str, ast.expr] = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign):
            named = [each.id for each in statement.targets if isinstance(each, ast.Name)]
            lists |= dict.fromkeys(named, statement.value)
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and _name(node.func) == "origin_allowed":
            keywords = [each.value for each in node.keywords if each.arg == "allowed_origins"]
            for node_value in (*node.args[1:2], *keywords):
                value = lists.get(node_value.id) if isinstance(node_value, ast.Name) else node_value
                for item in value.elts if isinstance(value, _LITERALS) else ():
                    text = item.value if isinstance(item, ast.Constant) else None
                    if isinstance(text, str) and not is_allowed_form(text):
                        yield item, text


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
