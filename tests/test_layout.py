"""The source text keeps the rules by which it is divided into parts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import attrs
import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "fxtrio"

LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"errors", "tracebacks"}),
    frozenset({"config", "manifest", "runtime", "node", "secret"}),
    frozenset({"asgi", "head", "encode", "routes", "context", "origin", "repeats"}),
    frozenset({"cache", "http1", "realtime", "tasks", "markdown", "ssr"}),
    frozenset({"http2", "serve", "compile", "portal"}),
    frozenset({"hypercorn_guard", "plugins", "imports"}),
    frozenset({"app"}),
    frozenset({"supervise"}),
    frozenset({"cli", "testing"}),
    frozenset({"__main__", "__init__"}),
)
"""Parts of the package, from the ground up. A part imports from the layers below its own."""

SHARED_BY_COMPILE = {"manifest", "head", "errors", "config", "routes", "node"}
"""All that `compile` may know of the rest."""

MAY_COMPILE = {"compile", "cli", "testing"}

IMPORTS_BY_NAME = {
    "fxtrio/imports.py",  # the only place that runs what a project contains
    "fxtrio/supervise/importer.py",  # finds the ASGI application that a command line names
    "fxtrio/plugins/load.py",  # imports a built-in plugin when the settings name it
    "fxtrio/cli/group.py",  # imports a command's module when it is asked for
}

LONGEST = {"fxtrio": 380, "fx": 380, "tests": 700}
"""Most lines of a file, by the folder it is in."""

ANY_LENGTH = {"fxtrio/errors.py"}  # a list, and not an idea that could be split
SOURCE_SUFFIXES = {".py", ".js", ".mjs", ".ts", ".css", ".html", ".fxl"}


@attrs.frozen
class Import:
    """One import statement's module, as seen in a file."""

    file: PurePosixPath
    line: int
    module: str
    for_types_only: bool

    @property
    def part(self) -> str:
        """The part of fxtrio it comes from; empty for other packages and fxtrio itself."""
        names = self.module.split(".")
        return names[1] if names[0] == "fxtrio" and len(names) > 1 else ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"


def own_files(folder: str) -> list[Path]:
    return [
        file
        for file in sorted((ROOT / folder).rglob("*"))
        if file.is_file() and "node_modules" not in file.parts and "__pycache__" not in file.parts
    ]


def python_files() -> list[Path]:
    return sorted(
        file
        for folder in ("fxtrio", "fx")
        for file in own_files(folder)
        if file.suffix == ".py" and not file.is_relative_to(PACKAGE / "starter")
    )


def part_of(file: PurePosixPath) -> str:
    return PurePosixPath(file.parts[1]).stem


def imports(file: Path) -> Iterator[Import]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    name = PurePosixPath(file.relative_to(ROOT).as_posix())
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        modules = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno}: a relative import"
            # `from fxtrio import config` imports the module fxtrio.config.
            whole = node.module or ""
            modules = [f"fxtrio.{alias.name}" for alias in node.names]
            modules = modules if whole == "fxtrio" else [whole]
        for module in modules:
            if not module.startswith("fxtrio.__"):
                yield Import(name, node.lineno, module, id(node) in typing_only)


ALL_IMPORTS = [found for file in python_files() for found in imports(file)]
FRAMEWORK_IMPORTS = [found for found in ALL_IMPORTS if found.file.parts[0] == "fxtrio"]


def rank(part: str) -> int:
    for number, layer in enumerate(LAYERS):
        if part in layer:
            return number
    raise AssertionError(f"fxtrio/{part} has no layer yet. Add it to LAYERS.")


def test_imports_point_to_lower_layers_only() -> None:
    upward = [
        str(found)
        for found in FRAMEWORK_IMPORTS
        if found.part
        and not found.for_types_only
        and found.part != part_of(found.file)
        and rank(found.part) >= rank(part_of(found.file))
    ]

    assert upward == []


def test_compile_knows_only_what_it_shares() -> None:
    wrong = [
        str(found)
        for found in FRAMEWORK_IMPORTS
        if part_of(found.file) == "compile"
        and found.part
        and found.part not in SHARED_BY_COMPILE | {"compile"}
    ]

    assert wrong == []


def test_what_serves_never_imports_the_compiler() -> None:
    wrong = [
        str(found)
        for found in ALL_IMPORTS
        if found.part == "compile" and part_of(found.file) not in MAY_COMPILE
    ]

    assert wrong == []


def test_nothing_runs_on_another_event_loop_or_framework() -> None:
    banned = {"asyncio", "fastapi", "anyio", "uvicorn", "requests"}
    wrong = [
        str(found)
        for found in ALL_IMPORTS
        if found.module.split(".")[0] in banned
        # coredis raises anyio's errors.
        and (found.file.name, found.module) != ("redis_link.py", "anyio")
        and found.file.name != "portal.py"  # which is there for asyncio
    ]

    assert wrong == []


def test_only_the_app_imports_application_code() -> None:
    wrong = []
    for file in python_files():
        name = file.relative_to(ROOT).as_posix()
        if name in IMPORTS_BY_NAME:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            shown = ast.unparse(called) if called else ""
            if shown in ("exec", "eval", "__import__") or shown.endswith(
                ("import_module", "exec_module", "spec_from_file_location", "run_path")
            ):
                wrong.append(f"{name}:{called.lineno if called else 0} calls {shown}")

    assert wrong == []


@pytest.mark.parametrize("file", sorted((ROOT / "fx").glob("*.py")), ids=lambda file: file.name)
def test_fx_modules_only_re_export(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    allowed = (ast.ImportFrom, ast.Assign, ast.Expr)

    assert all(isinstance(node, allowed) for node in tree.body)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            assert (node.module or "").startswith(("fxtrio", "__future__"))
        if isinstance(node, ast.Assign):
            assert [ast.unparse(target) for target in node.targets] == ["__all__"]
        if isinstance(node, ast.Expr):
            assert isinstance(node.value, ast.Constant)


@pytest.mark.parametrize("folder", LONGEST)
def test_no_file_holds_more_than_one_idea(folder: str) -> None:
    long = {
        name: lines
        for file in own_files(folder)
        if file.suffix in SOURCE_SUFFIXES
        if (lines := len(file.read_text(encoding="utf-8").splitlines())) > LONGEST[folder]
        if (name := file.relative_to(ROOT).as_posix()) not in ANY_LENGTH
    }

    assert long == {}


def test_no_module_is_a_drawer_for_everything() -> None:
    drawers = {"utils", "util", "helpers", "helper", "misc", "common"}

    assert [file for file in own_files("fxtrio") if drawers & {file.stem, file.parent.name}] == []


def test_every_part_has_a_layer_and_every_layer_a_part() -> None:
    parts = {
        entry.stem
        for entry in PACKAGE.iterdir()
        if entry.suffix == ".py" or (entry / "__init__.py").exists()
    }

    assert parts == set().union(*LAYERS)
