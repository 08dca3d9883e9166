"""Pages of the public Python modules, from their docstrings and signatures. Uses griffe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import attrs
import griffe
from build import REPOSITORY

_WIDTH = 76
"""Characters of a line of code that fit beside the navigation."""

_LITERAL = re.compile(r"``([^`]+)``")


@attrs.frozen
class Module:
    """A public module, and its page."""

    name: str
    """`fx.tasks`."""

    summary: str
    text: str
    source: str
    """Its file, from the top of the repository."""


@cache
def modules(root: Path) -> tuple[Module, ...]:
    """Return the modules of the package `fx` that export something, by name."""
    loader = griffe.GriffeLoader(search_paths=[root])
    package = loader.load("fx")
    loader.load("fxtrio")
    loader.expand_wildcards(package)
    found = []
    for name, module in sorted(package.modules.items()):
        exports = [*_exports(module, loader.modules_collection)]
        if exports:
            text = _text(module)
            ordered = sorted(exports, key=lambda export: _is_error(module[export]))
            page = "".join(_member(module[export], export, root) for export in ordered)
            whole = f"# fx.{name}\n\n{text}\n\n{page}"
            summary = text.partition("\n")[0]
            found.append(Module(f"fx.{name}", summary, whole, _relative(module, root)))
    return tuple(found)


def overview(root: Path) -> str:
    """Return the page that lists the modules."""
    rows = [
        f"| [`{module.name}`]({module.name.removeprefix('fx.')}.md) | {module.summary} |"
        for module in modules(root)
    ]
    lines = [
        "# API of the Python modules",
        "",
        "These pages are generated from the signatures and docstrings of the package `fx`.",
        "[Python API](../reference/python.md) describes how its parts work together.",
        "",
        "| Module | Content |",
        "|---|---|",
        *rows,
    ]
    return "\n".join(lines) + "\n"


def _exports(module: griffe.Object, known: griffe.ModulesCollection) -> Iterator[str]:
    """Yield the names in ``__all__``, and those of another module's that it contains."""
    yield from (name for name in module.exports or () if isinstance(name, str))
    for member in module.members.values():
        if isinstance(member, griffe.Alias) and member.target_path.endswith(".__all__"):
            yield from map(str, known[member.target_path.removesuffix(".__all__")].exports or ())


def _member(alias: griffe.Object | griffe.Alias, name: str, root: Path) -> str:
    target = alias.final_target if isinstance(alias, griffe.Alias) else alias
    lines = [f"## {name}", ""]
    if signature := _signature(target, name):
        lines += ["```python", signature, "```", ""]
    lines += [_text(target), ""]
    if isinstance(target, griffe.Class):
        lines += _members(target)
    source = f"{REPOSITORY}/blob/main/{_relative(target, root)}#L{target.lineno}"
    return "\n".join([*lines, f"[Source]({source})", "", ""])


def _is_error(named: griffe.Object | griffe.Alias) -> bool:
    target = named.final_target if isinstance(named, griffe.Alias) else named
    return isinstance(target, griffe.Class) and any(
        str(base).endswith(("Error", "Exception")) for base in target.bases
    )


def _members(target: griffe.Class) -> Iterator[str]:
    """Yield the public attributes and methods of a class that have a docstring."""
    for name, member in target.members.items():
        if name.startswith("_") or isinstance(member, griffe.Alias) or not member.docstring:
            continue
        yield f"### {target.name}.{name}"
        yield ""
        if isinstance(member, griffe.Function):
            yield from ("```python", _signature(member, name), "```", "")
        elif isinstance(member, griffe.Attribute) and member.annotation:
            yield from ("```python", f"{name}: {member.annotation}", "```", "")
        yield _text(member)
        yield ""


def _signature(target: griffe.Object, name: str) -> str:
    if isinstance(target, griffe.Class):
        bases = ", ".join(str(base) for base in target.bases)
        return f"class {name}({bases})" if bases else f"class {name}"
    if not isinstance(target, griffe.Function):
        return ""
    awaited = "async " if "async" in target.labels else ""
    blocks = [one for one in target.decorators if "contextmanager" in str(one.value)]
    signature = _in_lines(f"{awaited}def {target.signature(name=name)}")
    return "\n".join([*(f"@{one.value}" for one in blocks), signature])


def _in_lines(signature: str) -> str:
    """Return a signature with a line for each parameter, if it is long."""
    head, _, rest = signature.partition("(")
    if len(signature) <= _WIDTH or rest.startswith(")"):
        return signature
    parts, depth = [""], 0
    closing = rest.rindex(")", 0, rest.rfind(" -> ") if " -> " in rest else len(rest))
    for character in rest[:closing]:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    lines = (f"    {part.strip()}," for part in parts)
    return "\n".join([f"{head}(", *lines, rest[closing:]])


def _text(target: griffe.Object) -> str:
    """Return a docstring as Markdown."""
    text = target.docstring.value if target.docstring else ""
    return _LITERAL.sub(r"`\1`", text)


def _relative(target: griffe.Object, root: Path) -> str:
    path = target.filepath
    assert isinstance(path, Path)
    return path.relative_to(root).as_posix()
