"""Reads the statements of a function in order: the values of its names, and what it returns.

``scope.names`` are the names at the statement that is being read. Where the code branches, each
branch is read from a copy of them (`Flow._branch`), and the names after the statement are those
at the ends of the branches, joined. A branch that returns, raises or jumps has no end.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import attrs

from fxtrio.tools.types.inference.assignment import bind
from fxtrio.tools.types.inference.containers import add_to, merge_into
from fxtrio.tools.types.inference.expressions import value_of
from fxtrio.tools.types.inference.members import annotation_in, iterated, known
from fxtrio.tools.types.inference.narrowing import narrow
from fxtrio.tools.types.inference.operators import operated
from fxtrio.tools.types.inference.scope import Scope, changed_in
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

_SWALLOWS = re.compile(r"suppress$|CancelScope$|move_on_")
"""Names of context managers whose block may end early while the code behind it runs."""


@attrs.define(eq=False)
class Flow:
    """Reads the body of one function."""

    scope: Scope
    returned: list[Value] = attrs.field(factory=list)
    _jumps: list[tuple[list[Names], list[Names]]] = attrs.field(factory=list)
    """The names at each ``break`` and at each ``continue``, by loop, the innermost last."""

    _watched: list[list[Names]] = attrs.field(factory=list)
    """The names after each statement so far, by block that an exception may leave."""

    def block(self, statements: Iterable[ast.stmt]) -> bool:
        """Read statements; return whether what follows is reached."""
        for one in statements:
            reached = self.statement(one)
            for states in self._watched:
                states.append(fork(self.scope.names))
            if not reached:
                return False
        return True

    def statement(self, node: ast.stmt) -> bool:
        """Read a statement; return whether what follows is reached."""
        read = _READERS.get(type(node))  # none: ``pass``, ``global``, … change no value
        return True if read is None else read(self, node)

    def finish(self, *, reached: bool) -> Value:
        """Return the result of the function; ``reached`` says whether it runs to its end."""
        ends = [value_of(_NONE, self.scope)] if reached else []
        return either([*self.returned, *ends]) if self.returned or ends else NEVER

    def _branch(
        self, start: Names, body: list[ast.stmt], prepare: Callable[[], object] | None = None
    ) -> list[Names]:
        """Read ``body`` from a copy of ``start``.

        Returns the names at its end, in a list that is empty if the end is not reached.
        ``prepare`` binds or narrows names before the body; it returns False if nothing gets there.
        """
        self.scope.names = fork(start)
        if prepare is not None and prepare() is False:
            return []
        return [self.scope.names] if self.block(body) else []

    def _meet(self, ends: list[Names]) -> bool:
        """Continue where branches meet; return whether one of them gets there."""
        self.scope.names = join(ends)
        return bool(ends)

    def _read_watched(self, statements: list[ast.stmt]) -> tuple[bool, list[Names]]:
        """Read a block that an exception may leave after any statement.

        Returns whether its end is reached, and the names after each statement.
        """
        states: list[Names] = []
        self._watched.append(states)
        try:
            return self.block(statements), states
        finally:
            self._watched.pop()

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
        module = self.scope.namespace.get("__name__", "")
        annotation = annotation_in(module, ast.unparse(node.annotation))
        found = known(annotation, "it is annotated as Any, or with a name that cannot be found")
        if value is not None and (isinstance(found, Unknown) or _is_open(annotation)):
            found = value
        bind(node.target, found, self.scope)
        return True

    def _augmented(self, node: ast.AugAssign) -> bool:
        # ``+=`` changes a list or dict itself, which other names share; others are replaced.
        target = ast.copy_location(_loaded(node.target), node.target)
        before, added = value_of(target, self.scope), value_of(node.value, self.scope)
        for part in parts_of(before):
            if isinstance(part, List):
                add_to(part, iterated(added))
                return True
            if isinstance(part, Dict):
                merge_into(part, added)  # an `Either` makes it unknown
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
        value_of(node.test, self.scope)  # before the copies: a call in it may change values
        before = self.scope.names
        when_true = partial(narrow, node.test, self.scope, truth=True)
        when_false = partial(narrow, node.test, self.scope, truth=False)
        return self._meet(
            [
                *self._branch(before, node.body, when_true),
                *self._branch(before, node.orelse, when_false),
            ]
        )

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

        def end() -> None:
            value_of(node.test, self.scope)
            narrow(node.test, self.scope, truth=False)

        return self._loop(begin, node.body, node.orelse, may_skip=not forever, end=end)

    def _loop(
        self,
        begin: Callable[[], None],
        body: list[ast.stmt],
        otherwise: list[ast.stmt],
        *,
        may_skip: bool,
        end: Callable[[], None] = lambda: None,
    ) -> bool:
        """Read a loop; ``begin`` binds or narrows names before each round.

        Without ``may_skip`` the loop ends by ``break`` only.
        """
        # The body is read twice, because the second round begins with what the first one has
        # changed: a name that is None before the loop may be a dict at its top. A third round
        # would only add values two assignments away, which real code hardly has.
        tops = [self.scope.names]
        breaks: list[Names] = []
        for _ in range(2):
            self._jumps.append(([], []))
            ends = self._branch(join(tops), body, begin)
            left, continued = self._jumps.pop()
            breaks += left
            tops = [join([*tops, *ends, *continued])]
        ended = self._branch(tops[0], otherwise, end) if may_skip else []
        # Copied: the names at a ``break`` may still be those of another branch.
        ends = [*ended, *breaks]
        self.scope.names = fork(join(ends))
        return bool(ends)

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        before = fork(self.scope.names)
        # What a manager does when it is entered and left is not read, and may change what it holds.
        for one in node.items:
            value = value_of(one.context_expr, self.scope)
            if one.optional_vars is not None:
                why = "the result of the block is unknown"
                entered = Unknown(why, self.scope.place(one.context_expr))
                bind(one.optional_vars, entered, self.scope)
            spoil(value, self.scope.unknown(one.context_expr, "it is a block"))
        if not any(_may_swallow(one.context_expr) for one in node.items):
            return self.block(node.body)
        reached, states = self._read_watched(node.body)
        ends = [self.scope.names] if reached else []
        return self._meet([before, *states, *ends])

    def _try(self, node: ast.Try) -> bool:
        before = fork(self.scope.names)
        reached, states = self._read_watched(node.body)
        if reached and node.orelse:
            reached = self.block(node.orelse)  # not watched: no handler of this ``try`` covers it
        ends = [self.scope.names] if reached else []
        # A handler begins after any of the statements, or before the first one. Each handler
        # has copies of its own, since `join` may return one of the states itself.
        raised = [before, *states]
        for handler in node.handlers:
            bind_error = partial(self._bind_error, handler)
            ends += self._branch(join(map(fork, raised)), handler.body, bind_error)
        # ``finally`` also runs when no end is reached, on the way out of the function.
        self.scope.names = join(ends) if ends else fork(join(map(fork, raised)))
        return self.block(node.finalbody) and bool(ends)

    def _bind_error(self, handler: ast.ExceptHandler) -> None:
        if handler.name is not None:
            self.scope.bind(handler.name, Unknown("it is an exception"))

    def _match(self, node: ast.Match) -> bool:
        value_of(node.subject, self.scope)
        before = self.scope.names
        ends = [] if _takes_all(node.cases) else [fork(before)]
        for case in node.cases:
            ends += self._branch(before, case.body, partial(self._bind_captured, case.pattern))
        return self._meet(ends)

    def _bind_captured(self, pattern: ast.pattern) -> None:
        for part in ast.walk(pattern):
            name = getattr(part, "name", None) or getattr(part, "rest", None)
            if isinstance(name, str):
                self.scope.bind(name, Unknown("it is matched"))

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
        # Nobody knows when its code runs, so what it may change is unknown from here on.
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


def _may_swallow(manager: ast.expr) -> bool:
    """Whether the code behind a ``with`` may run although its block was left early."""
    named = (getattr(part, "id", getattr(part, "attr", "")) for part in ast.walk(manager))
    return any(_SWALLOWS.match(name) for name in named)


def _is_open(annotation: Any) -> bool:
    """Whether the value is more precise than its annotation."""
    return annotation in (dict, list, set, tuple) or annotation in (dict[str, Any], list[Any])


def _loaded(target: ast.expr) -> ast.expr:
    """Return the expression that reads the target of an assignment."""
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
