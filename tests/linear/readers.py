"""The functions of the runtime that look into text they get, found in their source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import fxtrio

PACKAGE = Path(fxtrio.__file__).parent

PARTS = (
    "accept.py", "develop", "clients.py", "compression", "encode.py", "asgi_entry.py", "head.py",
    "jobs", "log.py", "markdown", "origin.py", "send_budget", "server", "tools/lsp",
    "tools/openapi",
    "plugins", "policy", "realtime", "routes", "serve", "uploads.py",
)  # fmt: skip
"""What meets text of clients, of editors, of other processes and of stores."""

_TEXT = {"str", "bytes", "bytearray", "memoryview"}
_AROUND = {"Iterable", "Sequence", "Iterator", "list", "tuple", "ReadableBuffer"}
_LOOKS = {
    "count", "decode", "encode", "endswith", "find", "findall", "finditer", "fullmatch", "index",
    "isdecimal", "isdigit", "loads", "lower", "lstrip", "match", "partition", "removeprefix",
    "removesuffix", "replace", "rfind", "rindex", "rpartition", "rsplit", "rstrip", "search",
    "split", "splitlines", "strip", "sub", "subn", "translate", "upper", "feed", "unquote",
}  # fmt: skip
"""Methods, of text or of patterns, that go over text."""


def readers() -> Iterator[str]:
    """Yield ``module:qualified name`` of each function that looks into a parameter of text."""
    for part in PARTS:
        path = PACKAGE / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            module = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
            module = module.removesuffix(".__init__")
            for name, function in _functions(ast.parse(file.read_text()), ""):
                if looks_into_text(function):
                    yield f"{module}:{name}"


def _functions(
    node: ast.AST, inside: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        name = f"{inside}{getattr(child, 'name', '')}"
        if isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{name}.")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield name, child
            yield from _functions(child, f"{name}.<locals>.")
        else:
            yield from _functions(child, inside)


def text_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Return the parameters of ``function`` that are text, or several."""
    arguments = function.args
    return {
        parameter.arg
        for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        if parameter.annotation is not None and _is_text(parameter.annotation)
    }


def _is_text(annotation: ast.expr) -> bool:
    names = {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}
    return bool(names & _TEXT) and names <= _TEXT | _AROUND


def looks_into_text(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether ``function`` loops over, slices or searches a parameter of text."""
    texts = text_parameters(function)

    def named(node: ast.AST) -> bool:
        return any(isinstance(inner, ast.Name) and inner.id in texts for inner in ast.walk(node))

    for node in ast.walk(function):
        match node:
            case ast.For(iter=over) | ast.AsyncFor(iter=over) | ast.comprehension(iter=over):
                found = named(over)
            case ast.Subscript(value=ast.Name(id=name)):
                found = name in texts
            case ast.Call(func=ast.Attribute(value=value, attr=method), args=args):
                found = method in _LOOKS and any(map(named, (value, *args)))
            case ast.Call(func=ast.Name(id="unquote" | "iter" | "map"), args=args):
                found = any(map(named, args))
            case _:
                found = False
        if found:
            return True
    return False
