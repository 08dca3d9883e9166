"""The regular expressions of the package: each call of `re`, found in its source."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs

from .readers import PACKAGE

Mode: TypeAlias = Literal["match", "fullmatch", "search", "scan", "tokens", "lines"]
"""Once at the beginning; the same, to the end; until the first match; from match to match; the
same until the first failure; and where the code of each line begins."""

_METHODS: dict[str, Mode] = {
    "match": "match",
    "fullmatch": "fullmatch",
    "search": "search",
    "findall": "scan",
    "finditer": "scan",
    "split": "scan",
    "sub": "scan",
    "subn": "scan",
}
_NOT_USES = {"pattern", "flags", "groups", "groupindex"}

STAND_INS: dict[str, dict[str, Any]] = {
    "cli/trial_load.py": {"module": "name"},
    "develop/report/overlay_errors.py": {"root": "/a/b", "function": "name"},
    "export/plan.py": {"function": "name"},
    "tools/lsp/answers/quick_fixes.py": {
        "bounded": r"(?<![\w$])name(?![\w$])",
        "wrong": "name",
        "name": "name",
        "word": "name",
        "module": "module",
    },
    "tools/lsp/documents/name_ranges.py": {"name": "name"},
    "markdown/page_content.py": {"name": "script"},
    "server/supervise/logs/query_redaction.py": {"chosen": b"token|key"},
    "tools/types/python/unknown_types.py": {"name": "name"},
    "tools/types/ui/source/checked_paths.py": {
        "name": "name",
        "owner": "owner",
        "path": "owner.name",
        "there": "owner.name",
        "rest": "name",
        "root": "owner",
        "listed": "rows",
    },
}
"""Values for the local variables that patterns are made of, by file."""


FILES = tuple(
    file.relative_to(PACKAGE).as_posix()
    for file in sorted(PACKAGE.rglob("*.py"))
    if re.search(r"\bre\.", file.read_text("utf-8"))
)
"""The files of the package that may have patterns."""


@attrs.frozen
class Pattern:
    """One regular expression, and in which ways it is tried."""

    place: str
    """``path:name``; without a name of its own ``path:function:number``."""

    text: str | bytes
    flags: int
    modes: frozenset[Mode]


def patterns() -> Iterator[Pattern]:
    """Yield all patterns. One with a variable that is not in `STAND_INS` is an AssertionError."""
    trees = {file: ast.parse(file.read_text()) for file in sorted(PACKAGE.rglob("*.py"))}
    uses = _uses(trees)
    for short in FILES:
        file = PACKAGE / short
        tree = trees[file]
        names = _names(tree)
        numbers: dict[str, int] = defaultdict(int)
        for around, call in _calls(tree, ""):
            module = import_module(_module_of(file))
            text, flags = _evaluate(call, vars(module), STAND_INS.get(short, {}), short)
            name = names.get(call)
            if name is None:
                numbers[around] += 1
                name = f"{around}:{numbers[around]}"
            yield Pattern(
                f"{short}:{name}", text, flags, _modes(call, uses[_module_of(file), name])
            )


def _module_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def _calls(node: ast.AST, around: str) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls of `re`, each with the function or the constant that it is in, in order."""
    for child in ast.iter_child_nodes(node):
        inside = around
        match child:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                inside = name
            case ast.Assign(targets=[ast.Name(id=name)]):
                inside = around or name
        if isinstance(child, ast.Call) and _function_of(child) in {"compile", *_METHODS}:
            yield around, child
        yield from _calls(child, inside)


def _function_of(call: ast.Call) -> str | None:
    match call.func:
        case ast.Attribute(value=ast.Name(id="re"), attr=name):
            return name
    return None


def _names(tree: ast.Module) -> dict[ast.AST, str]:
    """Return the names that values are assigned to."""
    return {
        node.value: target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _modes(call: ast.Call, uses: set[Mode]) -> frozenset[Mode]:
    function = _function_of(call)
    if function is None or function == "compile":
        return frozenset(uses or {"scan"})
    return frozenset({_METHODS[function]})


def _uses(trees: Mapping[Path, ast.Module]) -> dict[tuple[str, str], set[Mode]]:
    """Return how names are used, by the module that they belong to."""
    found: dict[tuple[str, str], set[Mode]] = defaultdict(set)
    for file, tree in trees.items():
        module = _module_of(file)
        owners: dict[str, tuple[str, str]] = {}
        methods: dict[ast.AST, tuple[str, int]] = {}
        names: list[ast.Name] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                owners |= {one.asname or one.name: (node.module, one.name) for one in node.names}
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                names.append(node)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                methods.setdefault(node.func.value, (node.func.attr, len(node.args)))
            elif isinstance(node, ast.Attribute) and node.attr in _NOT_USES:
                methods.setdefault(node.value, ("", 0))
        for name in names:
            method, arguments = methods.get(name, ("handed on", 0))
            mode = _mode(method, arguments)
            if mode is not None:
                found[owners.get(name.id, (module, name.id))].add(mode)
    return found


def _mode(method: str, arguments: int) -> Mode | None:
    if not method:
        return None
    mode = _METHODS.get(method, "scan")
    return "scan" if mode == "match" and arguments > 1 else mode


def _evaluate(
    call: ast.Call, module: dict[str, Any], stand_ins: dict[str, Any], place: str
) -> tuple[str | bytes, int]:
    names = {**module, **stand_ins}
    text = _value(call.args[0], names, place)
    further = call.args[1 if _function_of(call) == "compile" else 2 :]
    flags = 0
    for node in (*further, *(word.value for word in call.keywords if word.arg == "flags")):
        if isinstance(node, ast.Attribute | ast.BinOp) and ast.unparse(node).startswith("re."):
            flags |= int(_value(node, names, place))
    assert isinstance(text, str | bytes)
    return text, flags


def _value(node: ast.expr, names: dict[str, Any], place: str) -> Any:
    try:
        return eval(compile(ast.Expression(node), "<pattern>", "eval"), {"re": re, **names})
    except NameError as error:
        raise AssertionError(f"{place}: say in STAND_INS what {error.name!r} may be") from None
