"""Looks for the chance in an application that its seed does not decide. Used for `NotRepeatable`.

A run is traced line by line. What a line iterates over and calls is read from its syntax, and only
names and attributes are looked up: nothing of the application is called twice.
"""

from __future__ import annotations

import _thread
import ast
import builtins
import os
import random
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import attrs

from fxtrio.simulation.engine.places import is_of_application

_CLOCKS = (
    *(time.monotonic, time.monotonic_ns, time.perf_counter, time.perf_counter_ns),
    *(time.process_time, time.process_time_ns, time.thread_time, time.thread_time_ns),
)
_BY_CALL: dict[Callable[..., Any], str] = {
    **{clock: f"'time.{clock.__name__}', a clock of the machine" for clock in _CLOCKS},
    uuid.uuid1: "'uuid.uuid1', which depends on a clock of the machine",
    _thread.start_new_thread: "a thread of its own",
}
_BY_NAME = {"id": "'id', an address in memory", "hash": "'hash', which may be an address in memory"}

_ITERATING = (list, tuple, iter, enumerate, map, zip, filter, next, dict.fromkeys)
"""What goes through an argument in its order."""

_GENERATORS = ("numpy.random", "torch.random")
"""Modules whose functions draw from generators of libraries in C."""

_STABLE = (str, bytes, int, float, complex, type(None))
"""Types whose hashes are the same in each run of a process."""

_UNKNOWN = object()


@attrs.define(eq=False)
class Chance:
    """The chance that a traced run has used."""

    _step: Callable[[], int]
    """Returns how many steps there were so far."""

    _sources: Mapping[str, str]
    """The Python of page files, by path: the files themselves hold more."""

    found: dict[str, int] = attrs.field(factory=dict)
    """What was used, with its place, and the first step at which it was."""

    def used_until(self, step: int) -> list[str]:
        """Return what was used in the first ``step`` steps."""
        return [text for text, first in self.found.items() if first <= step]

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Trace the lines of the application for the block; another tracer waits meanwhile."""
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            yield
        finally:
            sys.settrace(before)

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        return self._trace_line if _is_traced(frame.f_code) else None

    def _trace_line(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            file = frame.f_code.co_filename
            for expression in _lines_of(file, self._sources.get(file)).get(frame.f_lineno, ()):
                what = _chance_of(expression, frame)
                if what is not None:
                    place = f"{os.path.relpath(file)}:{frame.f_lineno}"
                    self.found.setdefault(f"{what} ({place})", self._step())
        return self._trace_line


@cache
def _is_traced(code: CodeType) -> bool:
    return is_of_application(code.co_filename)


@cache
def _lines_of(file: str, source: str | None) -> dict[int, list[ast.expr]]:
    """Return what the lines of a file call, iterate over and name, by line; {} if unreadable."""
    try:
        tree = ast.parse(Path(file).read_text("utf-8") if source is None else source)
    except (OSError, SyntaxError, ValueError):
        return {}
    found: dict[int, list[ast.expr]] = {}
    for node in ast.walk(tree):
        for expression in _expressions(node):
            found.setdefault(expression.lineno, []).append(expression)
    return found


def _expressions(node: ast.AST) -> Iterable[ast.expr]:
    if isinstance(node, ast.For | ast.comprehension):
        yield ast.copy_location(ast.Starred(node.iter, ast.Load()), node.iter)
    elif isinstance(node, ast.Starred | ast.Call) or (
        isinstance(node, ast.Name) and node.id in _BY_NAME and isinstance(node.ctx, ast.Load)
    ):
        yield node


def _chance_of(expression: ast.expr, frame: FrameType) -> str | None:
    """Return the chance that an expression uses; None without any."""
    if isinstance(expression, ast.Starred):
        return _of_order(expression.value, frame)
    if isinstance(expression, ast.Name):
        is_builtin = _value(expression, frame) is getattr(builtins, expression.id)
        return _BY_NAME[expression.id] if is_builtin else None
    assert isinstance(expression, ast.Call)
    called = _value(expression.func, frame)
    if called is random.Random and not expression.args and not expression.keywords:
        return "'random.Random' without a seed"
    if str(getattr(called, "__module__", "") or "").startswith(_GENERATORS):
        return f"'{getattr(called, '__name__', 'random')}', a random generator of a library in C"
    if any(called is one for one in _ITERATING):
        return next(filter(None, (_of_order(one, frame) for one in expression.args)), None)
    if isinstance(expression.func, ast.Attribute) and expression.func.attr == "pop":
        return _of_order(expression.func.value, frame)
    return next((text for one, text in _BY_CALL.items() if called is one), None)


def _of_order(expression: ast.expr, frame: FrameType) -> str | None:
    """Return a text if an expression is a set whose order is that of addresses."""
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name):
        if expression.func.id in {"set", "frozenset"}:
            return next(filter(None, (_of_order(one, frame) for one in expression.args)), None) or (
                _set_of(_value(expression.args[0], frame)) if expression.args else None
            )
        return None
    value = _value(expression, frame)
    return _set_of(value) if isinstance(value, set | frozenset) else None


def _set_of(members: object) -> str | None:
    if isinstance(members, set | frozenset | list | tuple | dict):
        for member in members:
            if not _has_stable_hash(member):
                kind = type(member).__qualname__
                return f"the order of a set of {kind!r}, which depends on addresses in memory"
    return None


def _has_stable_hash(member: object) -> bool:
    if isinstance(member, tuple | frozenset):
        return all(_has_stable_hash(one) for one in member)
    return isinstance(member, _STABLE) or type(member).__hash__ is not object.__hash__


def _value(expression: ast.expr, frame: FrameType) -> object:
    """Return what a name or an attribute of one stands for, without calling anything of its own."""
    if isinstance(expression, ast.Name):
        for names in (frame.f_locals, frame.f_globals, frame.f_builtins):
            if expression.id in names:
                return names[expression.id]
    elif isinstance(expression, ast.Attribute):
        owner = _value(expression.value, frame)
        for names in (getattr(owner, "__dict__", {}), getattr(type(owner), "__dict__", {})):
            if owner is not _UNKNOWN and expression.attr in names:
                return names[expression.attr]
    return _UNKNOWN
