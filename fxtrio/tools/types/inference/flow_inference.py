"""Statements, one after the other: what names stand for, and what is returned.

Ways through the code part and meet again. A loop is read twice, since what it does may
change what it sees.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from fxtrio.tools.types.inference.assignment import bind
from fxtrio.tools.types.inference.containers import add_to, merge_into
from fxtrio.tools.types.inference.expressions import value_of
from fxtrio.tools.types.inference.members import annotation_in, iterated, known
from fxtrio.tools.types.inference.narrowing import narrow
from fxtrio.tools.types.inference.operators import operated
from fxtrio.tools.types.inference.scope import Scope, root_of
from fxtrio.tools.types.inference.values import (
    NEVER,
    Dict,
    List,
    Names,
    Unknown,
    Value,
    either,
    fork,
    join,
    parts_of,
    spoil,
)

_MAY_GO_ON = ("suppress", "move_on", "CancelScope")
"""Parts of the names of blocks that an exception may leave without going on."""


@attrs.define(eq=False)
class Flow:
    """Reads the body of one function."""

    scope: Scope
    returned: list[Value] = attrs.field(factory=list)
    _jumps: list[tuple[list[Names], list[Names]]] = attrs.field(factory=list)
    """What is known where loops are left early and where they go on, innermost last."""

    _seen: list[list[Names]] = attrs.field(factory=list)
    """What is known after each statement that an error may leave, of all blocks around it."""

    def block(self, statements: Iterable[ast.stmt]) -> bool:
        """Read statements; return whether what follows is reached."""
        for one in statements:
            reached = self.statement(one)
            for seen in self._seen:
                seen.append(fork(self.scope.names))
            if not reached:
                return False
        return True

    def statement(self, node: ast.stmt) -> bool:
        """Read a statement; return whether what follows is reached."""
        read = _READERS.get(type(node))
        return True if read is None else read(self, node)

    def finish(self, *, reached: bool) -> Value:
        """Return what the function gives; ``reached`` says whether it runs to its end."""
        ends = [value_of(_NONE, self.scope)] if reached else []
        return either([*self.returned, *ends]) if self.returned or ends else NEVER

    def _return(self, node: ast.Return) -> bool:
        self.returned.append(value_of(node.value or _NONE, self.scope))
        return False

    def _raise(self, node: ast.Raise) -> bool:
        return False

    def _jump(self, node: ast.stmt) -> bool:
        if self._jumps:
            self._jumps[-1][isinstance(node, ast.Continue)].append(fork(self.scope.names))
        return False

    def _expression(self, node: ast.Expr) -> bool:
        value_of(node.value, self.scope)
        return True

    def _assign(self, node: ast.Assign) -> bool:
        value = value_of(node.value, self.scope)
        for target in node.targets:
            bind(target, value, self.scope)
        return True

    def _annotated(self, node: ast.AnnAssign) -> bool:
        value = None if node.value is None else value_of(node.value, self.scope)
        owner = type("_", (), {"__module__": self.scope.namespace.get("__name__", "")})
        annotation = annotation_in(owner, ast.unparse(node.annotation))
        found = known(annotation, "it is annotated as Any, or with what cannot be found")
        if value is not None and (isinstance(found, Unknown) or _is_open(annotation)):
            found = value
        bind(node.target, found, self.scope)
        return True

    def _augmented(self, node: ast.AugAssign) -> bool:
        target = ast.copy_location(_loaded(node.target), node.target)
        before, added = value_of(target, self.scope), value_of(node.value, self.scope)
        for part in parts_of(before):
            if isinstance(part, List):
                add_to(part, iterated(added))
                return True
            if isinstance(part, Dict):
                merge_into(part, added)  # one of several is not known, and spoils it
                return True
        bind(node.target, operated(before, node.op, added), self.scope)
        return True

    def _delete(self, node: ast.Delete) -> bool:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                owner = value_of(target.value, self.scope)
                spoil(owner, self.scope.unknown(node, "keys are taken from it"))
        return True

    def _if(self, node: ast.If) -> bool:
        value_of(node.test, self.scope)
        before, ways = self.scope.names, []
        for truth, body in ((True, node.body), (False, node.orelse)):
            self.scope.names = fork(before)
            narrow(node.test, self.scope, truth=truth)
            if self.block(body):
                ways.append(self.scope.names)
        self.scope.names = join(ways)
        return bool(ways)

    def _assert(self, node: ast.Assert) -> bool:
        value_of(node.test, self.scope)
        narrow(node.test, self.scope, truth=True)
        return True

    def _for(self, node: ast.For | ast.AsyncFor) -> bool:
        items = value_of(node.iter, self.scope)

        def begin() -> None:
            bind(node.target, iterated(items), self.scope)

        return self._loop(begin, node.body, node.orelse, may_skip=True)

    def _while(self, node: ast.While) -> bool:
        forever = isinstance(node.test, ast.Constant) and bool(node.test.value)

        def begin() -> None:
            value_of(node.test, self.scope)
            narrow(node.test, self.scope, truth=True)

        return self._loop(begin, node.body, node.orelse, may_skip=not forever)

    def _loop(
        self,
        begin: Callable[[], None],
        body: list[ast.stmt],
        otherwise: list[ast.stmt],
        *,
        may_skip: bool,
    ) -> bool:
        """Read a loop; without ``may_skip`` it is left by ``break`` only."""
        ways = [self.scope.names]
        breaks: list[Names] = []
        for _ in range(2):
            self.scope.names = fork(join(ways))
            self._jumps.append(([], []))
            begin()
            goes_on = self.block(body)
            left, continued = self._jumps.pop()
            breaks += left
            ends = [*([self.scope.names] if goes_on else []), *continued]
            ways = [join([*ways, *ends])]
        self.scope.names = fork(ways[0])
        ended = may_skip and self.block(otherwise)
        ends = [*([self.scope.names] if ended else []), *breaks]
        self.scope.names = fork(join(ends))
        return bool(ends)

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        before = fork(self.scope.names)
        for one in node.items:
            value = value_of(one.context_expr, self.scope)
            if one.optional_vars is not None:
                why = "what the block gives is not known"
                entered = Unknown(why, self.scope.place(one.context_expr))
                bind(one.optional_vars, entered, self.scope)
            spoil(value, self.scope.unknown(one.context_expr, "it is a block"))
        goes_on = any(
            part in ast.unparse(one.context_expr) for one in node.items for part in _MAY_GO_ON
        )
        reached, seen = self._watched(node.body) if goes_on else (self.block(node.body), [])
        if goes_on:
            self.scope.names = join([before, *seen, *([self.scope.names] if reached else [])])
        return reached or goes_on

    def _try(self, node: ast.Try) -> bool:
        before = fork(self.scope.names)
        reached, inside = self._watched(node.body)
        seen = [before, *inside]
        if reached and node.orelse:
            reached = self.block(node.orelse)
        ways = [self.scope.names] if reached else []
        for handler in node.handlers:
            self.scope.names = fork(join(map(fork, seen)))
            if handler.name is not None:
                self.scope.bind(handler.name, Unknown("it is an exception"))
            if self.block(handler.body):
                ways.append(self.scope.names)
        self.scope.names = join(ways) if ways else fork(join(map(fork, seen)))
        return self.block(node.finalbody) and bool(ways)

    def _watched(self, statements: list[ast.stmt]) -> tuple[bool, list[Names]]:
        """Read a block that an error may leave; return also what is known wherever it may."""
        seen: list[Names] = []
        self._seen.append(seen)
        try:
            return self.block(statements), seen
        finally:
            self._seen.pop()

    def _match(self, node: ast.Match) -> bool:
        value_of(node.subject, self.scope)
        before = self.scope.names
        ways = [fork(before)]
        for case in node.cases:
            self.scope.names = fork(before)
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    self.scope.bind(name, Unknown("it is matched"))
            if self.block(case.body):
                ways.append(self.scope.names)
        if _takes_all(node.cases):
            del ways[0]
        self.scope.names = join(ways)
        return bool(ways)

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
        why = self.scope.unknown(node, f"{node.name} is defined inside of a function")
        for name in changed_in(node):
            found = self.scope.names.get(name)
            if found is not None:
                spoil(found, why)
        self.scope.bind(node.name, why)
        return True

    def _import(self, node: ast.Import | ast.ImportFrom) -> bool:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            self.scope.bind(name, Unknown("it is imported inside of a function"))
        return True


def _is_open(annotation: Any) -> bool:
    """Whether an annotation says so little that the value says more."""
    return annotation in (dict, list, set, tuple) or annotation in (dict[str, Any], list[Any])


def _loaded(target: ast.expr) -> ast.expr:
    """Return the target of an assignment as what reads it."""
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    if isinstance(target, ast.Attribute):
        return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
    if isinstance(target, ast.Subscript):
        return ast.Subscript(target.value, target.slice, ast.Load())
    return target


def _takes_all(cases: list[ast.match_case]) -> bool:
    last = cases[-1]
    return isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and not last.guard


def changed_in(node: ast.AST) -> set[str]:
    """Return the names of things that code inside of ``node`` may change: a function of its own."""
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
    """Return the names that functions inside of a function bind anew."""
    return frozenset(
        name for node in ast.walk(function) if isinstance(node, ast.Nonlocal) for name in node.names
    )


_NONE = ast.Constant(None, lineno=1, col_offset=0)
_READERS: Mapping[type, Callable[[Flow, Any], bool]] = {
    ast.Return: Flow._return,
    ast.Raise: Flow._raise,
    ast.Break: Flow._jump,
    ast.Continue: Flow._jump,
    ast.Expr: Flow._expression,
    ast.Assign: Flow._assign,
    ast.AnnAssign: Flow._annotated,
    ast.AugAssign: Flow._augmented,
    ast.Delete: Flow._delete,
    ast.If: Flow._if,
    ast.Assert: Flow._assert,
    ast.For: Flow._for,
    ast.AsyncFor: Flow._for,
    ast.While: Flow._while,
    ast.With: Flow._with,
    ast.AsyncWith: Flow._with,
    ast.Try: Flow._try,
    ast.TryStar: Flow._try,
    ast.Match: Flow._match,
    ast.FunctionDef: Flow._define,
    ast.AsyncFunctionDef: Flow._define,
    ast.ClassDef: Flow._define,
    ast.Import: Flow._import,
    ast.ImportFrom: Flow._import,
}
