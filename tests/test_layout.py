"""The source text keeps the rules by which it is divided into files."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.source_tree import MODULES, ROOT, all_imports, own_files, python_files

IMPORTS_BY_NAME = {
    "fxtrio/tools/project_process/child.py",  # imports the task that its parent names
    "fxtrio/imports.py",  # the only place that runs what a project contains
    "fxtrio/server/supervise/application/importer.py",  # the ASGI application of a command line
    "fxtrio/realtime/open.py",  # imports the store of a broker when the settings name it
    "fxtrio/plugins/load.py",  # imports a built-in plugin when the settings name it
    "fxtrio/cli/group.py",  # imports a command's module when it is asked for
}

LONGEST = {"fxtrio": 500, "fx": 500, "benchmarks": 500, "noxfile.py": 500, "tests": 700}
"""Most lines of a file, by the folder it is in, or by its name."""

LONGEST_FUNCTION = 60
"""Lines, the docstring included."""

SOURCE_SUFFIXES = {".py", ".js", ".mjs", ".cjs", ".ts", ".css", ".html", ".fxl"}


def test_nothing_runs_on_another_event_loop_or_framework() -> None:
    banned = {"asyncio", "fastapi", "anyio", "uvicorn", "requests"}
    wrong = [
        str(found)
        for found in all_imports()
        if found.module.split(".")[0] in banned
        # coredis raises anyio's errors, and takes its streams.
        and found.file.name != "redis_client.py"
        and found.file.name != "asyncio_portal.py"  # which is there for asyncio
        and found.file.name != "rejections.py"  # rejects asyncio in simulations
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
            function = ast.unparse(called) if called else ""
            if function in ("exec", "eval", "__import__") or function.endswith(
                ("import_module", "exec_module", "spec_from_file_location", "run_path")
            ):
                wrong.append(f"{name}:{called.lineno if called else 0} calls {function}")

    assert wrong == []


def test_no_work_of_a_server_takes_the_threads_of_the_application() -> None:
    tools = (
        "cli/",
        "develop/",
        "compile/",
        "tools/",
        "testing/",
    )
    takes_default = {"Path", "open_file", "wrap_file", "getaddrinfo", "run_in_threadpool"}
    wrong = []
    for file in python_files():
        name = file.relative_to(ROOT / "fxtrio").as_posix() if "fxtrio" in file.parts else ""
        if name.startswith(tools):  # processes of their own, without application code
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            function = ast.unparse(node.func)
            bounded = any(word.arg == "limiter" for word in node.keywords)
            if (function in ("trio.to_thread.run_sync", "to_thread.run_sync") and not bounded) or (
                function.startswith(("trio.", "anyio."))
                and function.rpartition(".")[2] in takes_default
            ):
                wrong.append(f"{name}:{node.lineno} calls {function} without a limiter of its own")

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
        file.relative_to(ROOT).as_posix(): lines
        for file in own_files(folder) or [ROOT / folder]
        if file.suffix in SOURCE_SUFFIXES
        if (lines := len(file.read_text(encoding="utf-8").splitlines())) > LONGEST[folder]
    }

    assert long == {}


def test_no_module_is_a_drawer_for_everything() -> None:
    drawers = {"utils", "util", "helpers", "helper", "misc", "common"}

    assert [file for file in own_files("fxtrio") if drawers & {file.stem, file.parent.name}] == []


MOST_ENTRIES = 16
"""Modules and folders of one folder of source, `__init__.py` included (count)."""

MORE_ENTRIES = {
    "fxtrio": "each entry is a part, with its line on the map",
    "fxtrio/cli": "one module for each command, named as the command is",
    "fxtrio/serve": "each entry is a room, with its line on the map",
}


def test_no_folder_has_more_entries_than_one_can_keep_in_mind() -> None:
    entries: dict[str, set[str]] = defaultdict(set)
    scripts = [file for file in own_files("fxtrio/js") if file.suffix in SOURCE_SUFFIXES]
    for file in (*MODULES.values(), *scripts):
        parts = file.relative_to(ROOT).parts
        for depth in range(1, len(parts)):
            entries["/".join(parts[:depth])].add(parts[depth])

    crowded = {folder for folder, found in entries.items() if len(found) > MOST_ENTRIES}

    assert crowded == set(MORE_ENTRIES)


def definitions(file: Path) -> list[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def test_no_function_is_longer_than_a_screen() -> None:
    long = [
        f"{module}.{node.name}: {lines} lines"
        for module, file in MODULES.items()
        for node in definitions(file)
        if not isinstance(node, ast.ClassDef)
        and (lines := (node.end_lineno or 0) - node.lineno + 1) > LONGEST_FUNCTION
    ]

    assert long == []


def test_contributors_read_the_same_numbers() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

    assert f"at most {LONGEST['fxtrio']} lines, a function at most {LONGEST_FUNCTION};" in guide
    assert f"a test file has at most {LONGEST['tests']}." in guide
    assert f"A folder of source has at most {MOST_ENTRIES} entries;" in guide


def test_a_commit_is_checked_for_what_the_session_lint_checks() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    session = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    (named,) = re.findall(r"^PYTHON_FILES = \((.+)\)$", session, re.MULTILINE)
    folders = [name for name in ast.literal_eval(f"[{named}]") if name != "noxfile.py"]

    assert f"files: &python ^({'|'.join(folders)})/|^noxfile\\.py$" in hooks
    assert re.findall(r"entry: ruff (\w+)", hooks) == re.findall(
        r'session\.run\("ruff", "(\w+)"', session
    )


def test_no_package_has_two_public_classes_of_one_name() -> None:
    places = defaultdict(list)
    for module, file in MODULES.items():
        package = file.parent.relative_to(ROOT).as_posix()
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[package, node.name].append(module)

    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_test_asserts_how_long_something_takes() -> None:
    """The machine may be busy; deadlines end what hangs, and `benchmarks/` measures."""
    clocks = r"time\.(?:monotonic|perf_counter|process_time|time)\(\)"
    duration = re.compile(rf"^\s*assert\b.*{clocks} - (?!.*, )", re.MULTILINE)
    found = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in sorted((ROOT / "tests").rglob("*.py"))
        for line in duration.findall(file.read_text(encoding="utf-8"))
    ]

    assert found == []
