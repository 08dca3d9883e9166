"""Imports point down: between parts, between the rooms of `serve`, and without circles."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import pytest

from tests.source_tree import (
    MODULES,
    PACKAGE,
    ROOT,
    WINGS,
    all_imports,
    framework_imports,
    module_of,
    part_of,
    pictures_of_the_map,
    python_files,
)

LAYERS: tuple[frozenset[str], ...] = (
    frozenset(
        {
            "atomic_write",
            "cache_folder",
            "deferred",
            "git_ignore",
            "heap",
            "isolation",
            "server/header_fields",
            "limiters",
            "nearest",
            "opaque",
            "sizes",
            "status",
            "temporary_folders",
            "timer_wheel",
        }
    ),
    frozenset({"import_path", "errors", "processes", "tracebacks", "uploads"}),
    frozenset({"config", "build_folder", "manifest", "application_errors", "runtime", "node"}),
    frozenset(
        {
            "accept",
            "asgi_extensions",
            "callables",
            "clients",
            "head",
            "encode",
            "routes",
            "context",
            "origin",
            "log_limit",
            "process_identity",
            "secret_key",
            "spans",
        }
    ),
    frozenset({"db", "receive_budget", "requester", "send_budget"}),
    frozenset(
        {
            "cache",
            "compression",
            "content",
            "server/http1",
            "log",
            "realtime",
            "tasks",
            "markdown",
            "fonts",
            "pictures",
            "ssr",
        }
    ),
    frozenset({"policy"}),
    frozenset({"server/http2", "jobs", "asyncio_portal", "observe"}),
    frozenset({"app_handle"}),
    frozenset({"serve", "compile"}),
    frozenset(
        {
            "server/hypercorn_patches",
            "collections",
            "plugins",
            "imports",
            "tools/documentation",
            "tools/format",
            "tools/convert",
            "tools/project_checks",
            "tools/project_process",
        }
    ),
    frozenset({"asgi_entry", "tools/types"}),
    frozenset({"application", "tools/openapi"}),
    frozenset({"app"}),
    frozenset({"export", "standalone", "server/supervise", "tools/lsp"}),
    frozenset({"develop"}),
    frozenset({"cli", "testing"}),
    frozenset({"simulation"}),
    frozenset({"__main__", "__init__", *WINGS}),
)
"""Parts of the package, from the ground up. A part imports from the layers below its own."""

SHARED_BY_COMPILE = {
    "atomic_write",
    "cache_folder",
    "content",
    "pictures",
    "build_folder",
    "manifest",
    "head",
    "errors",
    "config",
    "routes",
    "node",
    "origin",
    "status",
    "temporary_folders",
}
"""All that `compile` may know of the rest."""

MAY_COMPILE = {
    "simulation",
    "export",
    "standalone",
    "compile",
    "develop",
    "tools/project_checks",
    "tools/convert",
    "tools/format",
    "tools/types",
    "tools/openapi",
    "tools/lsp",
    "cli",
    "testing",
}

ROOMS = (
    frozenset({"dispatch"}),
    frozenset({"runtime_endpoints", "site_routes", "starlette_routes"}),
    frozenset({"streams"}),
    frozenset(
        {
            "actions",
            "endpoints",
            "websockets",
            "static_files",
            "csp_report",
            "app_state",
            "mounts",
            "middleware",
            "replaceable_dispatcher",
            "openapi",
        }
    ),
    frozenset({"respond"}),
    frozenset({"cache"}),
    frozenset({"pages"}),
    frozenset({"event_streams"}),
    frozenset({"request", "request_span", "readiness"}),
)
"""Rooms of `fxtrio.serve`, from the entry down. A room imports from those below its own."""

ONE_CLASS_IN_TWO_FILES: Mapping[frozenset[str], str] = {}
"""Modules that may import each other, and why."""

PATCHES = "server/hypercorn_patches/"
HYPERCORN_ADAPTERS = {"server/http1/hypercorn_adapter.py", "server/http2/hypercorn_adapter.py"}
"""Files that know the objects of Hypercorn, besides the whole of `hypercorn_patches`."""


def rank(name: str, floors: tuple[frozenset[str], ...]) -> int:
    for number, floor in enumerate(floors):
        if name in floor:
            return number
    raise AssertionError(f"{name} has no floor yet. Add it to LAYERS or ROOMS.")


def test_imports_point_to_lower_layers_only() -> None:
    upward = [
        str(found)
        for found in framework_imports()
        if found.part
        and found.part != part_of(found.file)
        and rank(found.part, LAYERS) >= rank(part_of(found.file), LAYERS)
    ]

    assert upward == []


def test_rooms_of_serve_import_from_the_rooms_below_only() -> None:
    upward = []
    for found in framework_imports():
        names = found.module.split(".")
        if part_of(found.file) != "serve" or names[1:2] != ["serve"] or len(names) < 3:
            continue
        here, there = found.file.parts[2].removesuffix(".py"), names[2]
        if here != "__init__" and here != there and rank(there, ROOMS) <= rank(here, ROOMS):
            upward.append(str(found))

    assert upward == []


def circles(arrows: Mapping[str, set[str]]) -> Iterator[frozenset[str]]:
    """Yield the largest groups of modules that all import each other (Tarjan's algorithm)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []

    def visit(module: str) -> Iterator[frozenset[str]]:
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for other in sorted(arrows[module]):
            if other not in number:
                yield from visit(other)
                lowest[module] = min(lowest[module], lowest[other])
            elif other in stack:
                lowest[module] = min(lowest[module], number[other])
        if lowest[module] == number[module]:
            group = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(group) > 1:
                yield frozenset(group)

    for module in arrows:
        if module not in number:
            yield from visit(module)


def test_a_circle_is_found() -> None:
    arrows = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": set[str]()}

    assert list(circles(arrows)) == [frozenset("abc")]


def test_no_modules_import_each_other() -> None:
    arrows: dict[str, set[str]] = {module: set() for module in MODULES}
    for found in all_imports():
        module = module_of(ROOT / found.file)
        arrows[module] |= {found.module} & MODULES.keys() - {module}
    wrong = [sorted(circle) for circle in circles(arrows) if circle not in ONE_CLASS_IN_TWO_FILES]

    assert wrong == []


def test_only_the_adapters_ask_objects_of_hypercorn_what_they_are() -> None:
    """Others get what they need handed to them."""
    wrong = []
    for file in python_files():
        inside = file.relative_to(PACKAGE).as_posix() if file.is_relative_to(PACKAGE) else ""
        if not inside or inside in HYPERCORN_ADAPTERS or inside.startswith(PATCHES):
            continue
        text = file.read_text(encoding="utf-8")
        if "hypercorn" in text:
            wrong += [f"{inside}:{line}: {subject}" for line, subject in questions(ast.parse(text))]

    assert wrong == []


def questions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield where a file asks, or sets, attributes of Hypercorn's objects by their names."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        subject = ast.unparse(node.args[0]) if node.args else ""
        of_hypercorn = {"context", "config", "log", "worker_context", "tcp_server"}
        if node.func.id in {"getattr", "hasattr", "setattr"} and of_hypercorn & set(
            subject.replace("self._", "").replace("self.", "").split(".")
        ):
            yield node.lineno, ast.unparse(node)


def test_compile_knows_only_what_it_shares() -> None:
    wrong = [
        str(found)
        for found in framework_imports()
        if part_of(found.file) == "compile"
        and found.part
        and found.part not in SHARED_BY_COMPILE | {"compile"}
    ]

    assert wrong == []


def test_what_serves_never_imports_the_compiler() -> None:
    wrong = [
        str(found)
        for found in all_imports()
        if found.part == "compile" and part_of(found.file) not in MAY_COMPILE
    ]

    assert wrong == []


def test_every_part_has_a_layer_and_every_layer_a_part() -> None:
    parts = {
        part_of(PurePosixPath(file.relative_to(ROOT)))
        for file in MODULES.values()
        if file.is_relative_to(PACKAGE)
    }

    assert parts == set().union(*LAYERS)


@pytest.mark.parametrize(
    ("number", "expected"), [(0, LAYERS[::-1]), (1, ROOMS)], ids=["parts", "rooms"]
)
def test_the_map_has_a_line_for_every_part_and_room(
    number: int, expected: tuple[frozenset[str], ...]
) -> None:
    """A new one gets its line in the pictures of `docs/architecture.md`."""
    floors = pictures_of_the_map()[number]

    assert [{name for name, _ in floor} for floor in floors] == [set(floor) for floor in expected]
    assert [file for floor in floors for _, file in floor if not file.is_file()] == []
