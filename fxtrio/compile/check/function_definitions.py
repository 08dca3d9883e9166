"""Questions about function definitions. Pure. Called by `python_declarations`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxtrio.compile.check.decorator_names import Mark, Marks

Definition = ast.FunctionDef | ast.AsyncFunctionDef
_LOADER = "load"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def call_problems(function: Definition, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield (message, remedy) for each reason why a function cannot be called as it will be.

    The runtime passes the first of ``names`` always, and a second one when the
    function has an annotated parameter for it: by position, or by keyword where it
    takes nothing else by position.
    """
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    required = positional[: len(positional) - len(arguments.defaults)]
    if names and not positional and arguments.vararg is None:
        signature = f"{function.name}({names[0]})"
        yield f"has no parameter for the {names[0]}", f"Write '{signature}'"
        return
    if len(required) > len(names):
        parameter = required[len(names)].arg
        yield f"has a parameter {parameter!r} that nobody passes", "Remove it, or give it a default"
    elif len(required) == 2 and required[1].annotation is None:
        parameter = required[1].arg
        yield f"has a parameter {parameter!r} without a type", "Annotate it with a body model"
    passed = len(names) > 1 and len(positional) == 1 and arguments.vararg is None
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if passed:
            passed = False
            if default is None and argument.annotation is None:
                message = f"has a parameter {argument.arg!r} without a type"
                yield message, "Annotate it with a body model"
        elif default is None:
            message = f"has a keyword-only parameter {argument.arg!r} that nobody passes"
            yield message, "Remove the '*' in front of it, or give it a default"


def unmarked_loader(module: ast.Module) -> ast.AsyncFunctionDef | None:
    """Return the coroutine ``load`` of a module that nothing marks and nothing calls."""
    for node in module.body:
        if isinstance(node, ast.AsyncFunctionDef) and node.name == _LOADER:
            names = (each for each in ast.walk(module) if isinstance(each, ast.Name))
            if not node.decorator_list and not any(each.id == _LOADER for each in names):
                return node
    return None


def is_generator(function: Definition) -> bool:
    """Whether a function itself has a ``yield``."""
    unread: list[ast.AST] = [*function.body]
    while unread:
        node = unread.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, _SCOPES):
            unread += ast.iter_child_nodes(node)
    return False


def streaming_problems(action: Definition) -> Iterator[tuple[str, str]]:
    """Yield what stands against an action that yields, each with its remedy."""
    if is_generator(action):
        for mark in action.decorator_list:
            for keyword in mark.keywords if isinstance(mark, ast.Call) else ():
                if keyword.arg == "transaction" and _is_true(keyword.value):
                    yield (
                        "has a yield and transaction=True, which would stay open while a client "
                        "reads",
                        "Open 'transaction()' of fx.db around the statements between two yields",
                    )


def tool_problems(action: Definition) -> Iterator[tuple[str, str]]:
    """Yield what stands against an action that agents may call, each with its remedy."""
    if ast.get_docstring(action):
        return
    for mark in action.decorator_list:
        for keyword in mark.keywords if isinstance(mark, ast.Call) else ():
            if keyword.arg == "tool" and _is_true(keyword.value):
                yield (
                    "has tool=True and no docstring, by which agents choose what they call",
                    "Write one below 'def' that says what it does",
                )


def stream_problems(stream: Definition) -> Iterator[tuple[str, str]]:
    """Yield what stands against a function marked `@stream`, each with its remedy.

    The runtime passes the request, and by their names ``after`` and one parameter that has an
    annotation.
    """
    arguments = stream.args
    if isinstance(stream, ast.FunctionDef):
        yield "is not async", f"Write 'async def {stream.name}'"
    elif not is_generator(stream):
        yield "has no yield", "Yield each value, or write a loader for a single one"
    positional = [*arguments.posonlyargs, *arguments.args]
    if not positional and arguments.vararg is None:
        yield "has no parameter for the request", f"Write '{stream.name}(request)'"
        return
    for parameter in arguments.posonlyargs[1:]:
        yield f"has a positional-only parameter {parameter.arg!r}", "Move the '/' to the request"
    first_default = len(positional) - len(arguments.defaults)
    named = [(one, number >= first_default) for number, one in enumerate(positional)][1:]
    named += [
        (one, default is not None)
        for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    required = [one for one, has_default in named if one.arg != "after" and not has_default]
    for parameter in required:
        if parameter.annotation is None:
            message = f"has a parameter {parameter.arg!r} without a type"
            yield message, "Annotate it with a model of the query"
    for parameter in required[1:]:
        message = f"has a second parameter {parameter.arg!r} for the query"
        yield message, "Make one model of both, or give it a default"


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)


def marked_inside(
    outer: Definition | ast.ClassDef, marks: Marks
) -> Iterator[tuple[Definition, Mark]]:
    """Yield the marked functions inside of a function or class.

    Names that are bound in there stand for something else and are left out.
    """
    inner = [node for node in ast.walk(outer) if isinstance(node, Definition) and node is not outer]
    decorated = [node for node in inner if node.decorator_list]
    if not decorated:
        return
    local = _bound_inside(outer)
    for function in decorated:
        for decorator in function.decorator_list:
            names = {node.id for node in ast.walk(decorator) if isinstance(node, ast.Name)}
            mark = marks.of(decorator)
            if mark is not None and not names & local:
                yield function, mark


def _bound_inside(outer: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(outer):
        if isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names
