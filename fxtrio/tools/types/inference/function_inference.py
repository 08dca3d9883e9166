"""Python functions without annotations: what they return, read from their text.

`make_reader` is what everybody begins with.
"""

from __future__ import annotations

import inspect
from typing import Any

from starlette.requests import Request

from fxtrio.tools.types.inference.expressions import value_of
from fxtrio.tools.types.inference.flow_inference import Flow
from fxtrio.tools.types.inference.members import known
from fxtrio.tools.types.inference.module_values import named
from fxtrio.tools.types.inference.scope import (
    DEEPEST,
    MOST,
    SPREAD,
    SPREAD_NAMES,
    Arguments,
    Reader,
    Scope,
    bound_in,
    rebound_inside,
)
from fxtrio.tools.types.inference.values import (
    NONE,
    Known,
    List,
    Live,
    Names,
    Unknown,
    Value,
    either,
    spoil,
)
from fxtrio.tools.types.python.classes import hints_of
from fxtrio.tools.types.python.sources import Sources

_REMEDY = "Annotate what it returns: a TypedDict, an attrs class, a dataclass"


def make_reader(sources: Sources) -> Reader:
    """Return what reads the code of a project."""
    reader = Reader(sources)
    reader.evaluate = value_of
    reader.named = named

    def run(function: Any, arguments: Arguments) -> Value:
        return read_function(function, arguments, reader)

    reader.run = run
    return reader


def read_function(function: Any, arguments: Arguments, reader: Reader) -> Value:
    """Return what a function gives for arguments, without waiting for it."""
    found = reader.sources.of_function(function)
    code = getattr(function, "__code__", None)
    reason = f"{getattr(function, '__name__', 'it')}() has no annotation"
    unread = Unknown(reason, reader.sources.place_of_function(function), _REMEDY)
    too_much = len(reader.stack) >= DEEPEST or reader.read >= MOST
    if found is None or code in reader.stack or too_much:
        for one in (*arguments[0], *arguments[1].values()):
            spoil(one, unread)
        return unread
    module, node = found
    scope = Scope(
        reader,
        function.__globals__,
        module,
        local=bound_in(node),
        shared=rebound_inside(node),
    )
    scope.names = _closed_over(function) | _parameters(function, arguments)
    reader.read += 1
    reader.stack.append(code)
    try:
        flow = Flow(scope)
        reached = flow.block(node.body)
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            return List(either(scope.yielded) if scope.yielded else unread, "generator")
        return flow.finish(reached=reached)
    finally:
        reader.stack.pop()


def _closed_over(function: Any) -> Names:
    """Return the values of names of enclosing functions: they may be reassigned."""
    names: Names = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            value = cell.cell_contents
        except ValueError:  # not bound yet
            value = None
        is_function = inspect.isroutine(value) or isinstance(value, type)
        names[name] = Live(value) if is_function else Unknown(f"{name!r} is unknown")
    return names


def _parameters(function: Any, arguments: Arguments) -> Names:
    """Return the values of the parameters: the arguments, or their annotations."""
    signature = inspect.signature(function, follow_wrapped=False)
    hints = {} if hasattr(function, "__wrapped__") else hints_of(function)
    others = dict(arguments[1])
    known_all = others.pop(SPREAD, None) is None and others.pop(SPREAD_NAMES, None) is None
    try:
        bound = signature.bind_partial(*arguments[0], **others).arguments
    except TypeError:
        bound, known_all = {}, False
    names: Names = {}
    for name, parameter in signature.parameters.items():
        passed = bound.get(name)
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            why = Unknown("it is any number of arguments")
            for one in passed.values() if isinstance(passed, dict) else passed or ():
                spoil(one, why)
            names[name] = why
        elif passed is not None and not isinstance(passed, Unknown):
            names[name] = passed
        elif name in hints and not isinstance(known(hints[name]), Unknown):
            found = known(hints[name])
            names[name] = either([found, NONE]) if parameter.default is None else found
        elif passed is not None:
            names[name] = passed
        elif not known_all and name != "request":
            names[name] = Unknown(f"the argument for {name!r} is unknown")
        elif parameter.default is None or type(parameter.default) in (str, int, float, bool):
            names[name] = Known(type(parameter.default))
        elif name == "request":
            names[name] = Known(Request)
        else:
            names[name] = Unknown(f"{name!r} is unknown")
    return names
