"""Calls of `defer` that fail when they run, or that no page can send. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxtrio.compile.check.function_definitions import Definition, is_generator
from fxtrio.compile.split.python_statements import nodes_of

_MODULES = frozenset({"fx.runtime", "fxtrio.runtime", "fxtrio.deferred"})
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

_DATA = (ast.Constant, ast.Dict, ast.DictComp, ast.JoinedStr, ast.List, ast.ListComp, ast.Tuple)

_TOP_LEVEL = 'Write {"key": defer(…)} in the dict that the loader returns, and nothing around it'


def wrong_defers(module: ast.Module) -> Iterator[tuple[ast.expr, str, str]]:
    """Yield each wrong call of `defer`: node, message, remedy."""
    names = _names_of(module)
    if not names:
        return
    functions = {node.name: node for node in module.body if isinstance(node, Definition)}
    for node in nodes_of(module):
        if _is_call(node, names):
            yield from _wrong_function(node, functions)
    for function in functions.values():
        marks = {_mark(decorator) for decorator in function.decorator_list}
        if "action" in marks:
            for call in _calls_in(_returned(function), names):
                remedy = "Await the value, or yield it from an action that streams"
                yield call, f"@action {function.name!r} returns a deferred value", remedy
        elif "server" in marks:
            for returned in _returned(function):
                at_top = _top_level(returned)
                for call in _calls_in([returned], names):
                    if call not in at_top:
                        yield call, "a deferred value is deeper in the data", _TOP_LEVEL


def _names_of(module: ast.Module) -> set[str]:
    """Return the names that stand for `defer`."""
    return {
        alias.asname or alias.name
        for node in nodes_of(module)
        if isinstance(node, ast.ImportFrom) and node.module in _MODULES
        for alias in node.names
        if alias.name == "defer"
    }


def _is_call(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _wrong_function(
    call: ast.AST, functions: dict[str, Definition]
) -> Iterator[tuple[ast.expr, str, str]]:
    """Yield what stands against the first argument, where it names a function of the module."""
    assert isinstance(call, ast.Call)
    if not call.args:
        return
    argument = call.args[0]
    if isinstance(argument, ast.Name):
        function = functions.get(argument.id)
        if function is None or function.decorator_list:
            return
        if is_generator(function):
            yield argument, f"defer: {argument.id!r} has a yield", "Return the whole value"
        elif isinstance(function, ast.FunctionDef) and _returns_data(function):
            yield argument, f"defer: {argument.id!r} is not async", "Define it with 'async def'"
    elif isinstance(argument, ast.Call) and isinstance(argument.func, ast.Name):
        name = argument.func.id
        if isinstance(functions.get(name), ast.AsyncFunctionDef):
            remedy = f"Pass the function and its arguments: 'defer({name}, …)'"
            yield argument, f"defer: gets a call of {name!r}", remedy


def _returns_data(function: ast.FunctionDef) -> bool:
    """Whether all that a function returns is written as data, which cannot be awaited."""
    return all(isinstance(returned, _DATA) for returned in _returned(function))


def _mark(decorator: ast.expr) -> str:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return target.id if isinstance(target, ast.Name) else ""


def _returned(function: Definition) -> Iterator[ast.expr]:
    """Yield what a function itself returns."""
    unread: list[ast.AST] = [*function.body]
    while unread:
        node = unread.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value
        elif not isinstance(node, _SCOPES):
            unread += ast.iter_child_nodes(node)


def _calls_in(returned: Iterator[ast.expr] | list[ast.expr], names: set[str]) -> Iterator[ast.Call]:
    """Yield the calls of `defer` in what dicts, lists and tuples of expressions hold."""
    unread: list[ast.expr | None] = [*returned]
    while unread:
        node = unread.pop()
        if isinstance(node, ast.Call) and _is_call(node, names):
            yield node
        elif isinstance(node, ast.Dict):
            unread += node.values
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            unread += node.elts


def _top_level(returned: ast.expr) -> list[ast.expr]:
    """Return the values of the dict that a loader returns, with a status or without."""
    if isinstance(returned, ast.Tuple) and returned.elts:
        returned = returned.elts[0]
    return returned.values if isinstance(returned, ast.Dict) else []
