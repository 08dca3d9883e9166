"""The project's own source files, and what they import: for tests about the source text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

import attrs

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "fxtrio"


@attrs.frozen
class Import:
    """One import of a module, as seen in a file. Those for types alone count like all others."""

    file: PurePosixPath
    line: int
    module: str

    @property
    def part(self) -> str:
        """The part of fxtrio it comes from; empty for other packages and fxtrio itself."""
        names = self.module.split(".")
        return part_of_names(names[1:]) if names[0] == "fxtrio" and len(names) > 1 else ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"


GENERATED = {"node_modules", "__pycache__", ".cache"}
"""Folders of what was installed or compiled."""


def own_files(folder: str) -> list[Path]:
    return [
        file
        for file in sorted((ROOT / folder).rglob("*"))
        if file.is_file() and not GENERATED.intersection(file.relative_to(ROOT).parts)
    ]


def python_files() -> list[Path]:
    return sorted(
        file
        for folder in ("fxtrio", "fx")
        for file in own_files(folder)
        if file.suffix == ".py" and not file.is_relative_to(PACKAGE / "starter")
    )


def module_of(file: Path) -> str:
    """Return the dotted name of a module's file."""
    names = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


MODULES = {module_of(file): file for file in python_files()}
"""Dotted name to file."""


WINGS = ("server", "tools")
"""Folders of the package whose folders are parts: a part is ``cli``, or ``server/http1``."""


def part_of(file: PurePosixPath) -> str:
    return part_of_names(file.with_suffix("").parts[1:])


def part_of_names(names: Sequence[str]) -> str:
    """Return the part of a module below the package, such as ``("server", "http1", "limits")``."""
    whole = names[:2] if names[0] in WINGS else names[:1]
    return "/".join(name for name in whole if name != "__init__") or "__init__"


def imports(file: Path) -> Iterator[Import]:
    name = PurePosixPath(file.relative_to(ROOT).as_posix())
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno}: a relative import"
            whole = node.module or ""
            # `from fxtrio import config` imports the module fxtrio.config.
            inner = [f"{whole}.{alias.name}" for alias in node.names]
            modules = list(dict.fromkeys(one if one in MODULES else whole for one in inner))
        else:
            continue
        for module in modules:
            if not module.startswith("fxtrio.__"):
                yield Import(name, node.lineno, module)


@cache
def all_imports() -> tuple[Import, ...]:
    return tuple(found for file in python_files() for found in imports(file))


def framework_imports() -> list[Import]:
    return [found for found in all_imports() if found.file.parts[0] == "fxtrio"]


def pictures_of_the_map() -> list[list[list[tuple[str, Path]]]]:
    """Return the pictures of `docs/architecture.md`: floors of names with their first files."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    pictures = re.findall(r"^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [
        [
            [(line.split()[0], ROOT / line.split()[1]) for line in floor.splitlines()]
            for floor in re.split(r"^-+\n", picture, flags=re.MULTILINE)
        ]
        for picture in pictures
    ]
