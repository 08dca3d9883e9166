"""What one command finds all of them find, and it weighs the same: five of them, each kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from fxtrio.compile.check.problem_kinds import SEVERITIES, FindingKind, Severity
from tests.cli.in_browser import wait_for
from tests.e2e.support import serving
from tests.lsp.editor import open_editor
from tests.ports import free_port
from tests.short import LONG
from tests.trees import page, write_tree

pytestmark = pytest.mark.node

STOPPED = {("The app has stopped", Severity.ERROR)}
COMMANDS = {"check", "typecheck", "build", "dev", "lsp"}


@attrs.frozen
class Broken:
    """A finding of a corpus of broken projects."""

    place: str
    """File and line."""

    files: dict[str, str]
    by: set[str]
    """Commands that look for it. `fx dev` shows other errors when they fail."""


UI = "export default function Page({ data }) {\n  return <p>{%s}</p>;\n}\n"
LOADER = "@server\nasync def load(request):\n    return {'count': 1}\n"

CORPUS = {
    FindingKind.SETTINGS: Broken(
        "fx.config.json:1",
        {"fx.config.json": '{"lnag": "de"}'},
        COMMANDS,
    ),
    FindingKind.PAGES: Broken(
        "pages/half.fxl:2",
        {"pages/half.fxl": "@server\nasync def load(request:\n    return {}\n\n" + UI % 1},
        COMMANDS,
    ),
    FindingKind.CODE: Broken(
        "pages/code.fxl:1",
        {"pages/code.fxl": page("import nothing_of_this_name\n" + LOADER)},
        {"check", "lsp"},
    ),
    FindingKind.MIGRATIONS: Broken(
        "migrations/one.sql:1",
        {
            "migrations/one.sql": "select 1;\n",
            "fx.config.json": '{"database": {"url": "sqlite://"}}',
        },
        {"check", "build", "lsp"},
    ),
    FindingKind.UI: Broken(
        "pages/lost.fxl:1",
        {"pages/lost.fxl": 'import { a } from "./nowhere.jsx";\n\n' + UI % "a"},
        COMMANDS,
    ),
    FindingKind.LIKELY: Broken(
        "pages/late.fxl:2",
        {"pages/late.fxl": UI % "nowhere"},
        COMMANDS,
    ),
    FindingKind.TYPES: Broken(
        "pages/typed.fxl:6",
        {"pages/typed.fxl": LOADER + "\n" + UI % "data.cuont"},
        {"check", "typecheck", "dev", "lsp"},
    ),
    FindingKind.UNKNOWN_TYPES: Broken(
        "pages/vague.fxl:3",
        {
            "pages/vague.fxl": "@server\nasync def load(request):\n"
            "    return {'what': request.state.what}\n\n" + UI % "data.what"
        },
        {"typecheck"},
    ),
    FindingKind.PYTHON_TYPES: Broken(
        "pages/python.fxl:1",
        {
            "pages/python.fxl": "COUNT: int = 'many'\n\n" + LOADER + "\n" + UI % "data.count",
            "mypy.ini": "[mypy]\n",
        },
        {"check", "typecheck", "lsp"},
    ),
    FindingKind.AROUND: Broken(
        "vite.config.js:1",
        {"vite.config.js": "export default {};\n"},
        {"check", "build", "dev", "lsp"},
    ),
    FindingKind.FOREIGN: Broken(
        "store.py:2",
        {
            "store.py": "import asyncio\nLOCK = asyncio.Lock()\n",
            "pages/store.fxl": page("import store\n\n" + LOADER, UI % "data.count"),
        },
        {"check", "build", "dev", "lsp"},
    ),
    FindingKind.EXTRAS: Broken(
        "fx.config.json:2",
        {"fx.config.json": '{\n  "realtime": {"broker": "redis://localhost"}\n}'},
        {"check", "build", "dev", "lsp"},
    ),
    FindingKind.ENVIRONMENT: Broken(
        "fx.config.json:2",
        {
            "fx.config.json": '{\n  "plugins": [{"name": "jobs", "settings": {"guard": "g:a"}}]\n}',
            "g.py": "async def a(request): ...\n",
        },
        {"check", "build", "lsp"},
    ),
    FindingKind.UNGUARDED: Broken(
        "fx.config.json:2",
        {
            "fx.config.json": '{\n  "routeMiddleware": {"pages": ["guards.nobody"]}\n}',
            "guards.py": "async def nobody(request): ...\n",
            "pages/api/keys.py": "async def get(request):\n    return {}\n",
        },
        {"check", "build", "dev", "lsp"},
    ),
}


NEW = "import attrs\n\n\n@attrs.define\nclass New:\n    title: str\n\n\n"
ADD = NEW + "@action\nasync def add(request, new: New):\n    return {}\n\n\n"
VIEW = "export default function Page({ data }) {\n  return %s;\n}\n"
CARD = "export function Card(props: { size: number }) {\n  return <p>{props.%s}</p>;\n}\n"
ERROR, WARNING = Severity.ERROR, Severity.WARNING
LOOKED_FOR_BY_ALL: set[str] = set()

MANY: dict[str, tuple[Severity, set[str], str]] = {
    "pages/python.fxl:2": (
        ERROR,
        LOOKED_FOR_BY_ALL,
        "@server\nasync def load(request:\n\n" + UI % 1,
    ),
    "pages/parsed.fxl:6": (ERROR, LOOKED_FOR_BY_ALL, LOADER + "\n" + VIEW % "<p>{data</p>"),
    "pages/conflict.fxl:1": (ERROR, LOOKED_FOR_BY_ALL, "<<<<<<< a\n=======\n>>>>>>> b\n" + UI % 1),
    "pages/styles.css:1": (ERROR, {"typecheck"}, "<<<<<<< a\n=======\n>>>>>>> b\n"),
    "pages/styled.fxl:": (ERROR, COMMANDS, 'import "./styles.css";\n\n' + UI % 1),
    "pages/name.fxl:3": (
        ERROR,
        {"typecheck"},
        "@server\nasync def load(request):\n    return {'a': nothing}\n\n" + UI % "data.a",
    ),
    "pages/called.fxl:17": (
        ERROR,
        LOOKED_FOR_BY_ALL,
        ADD
        + 'import { useAction } from "fx/client";\n\n'
        + VIEW.replace("return", 'const one = useAction("ad");\n  return') % "<p>{one.error}</p>",
    ),
    "pages/form.fxl:17": (
        ERROR,
        LOOKED_FOR_BY_ALL,
        ADD + 'import { Form } from "fx/client";\n\n' + VIEW % '<Form action="ad" />',
    ),
    "pages/file.fxl:1": (
        ERROR,
        LOOKED_FOR_BY_ALL,
        'import { a } from "./away.jsx";\n\n' + UI % "a",
    ),
    "pages/export.fxl:1": (
        ERROR,
        LOOKED_FOR_BY_ALL,
        'import { Crad } from "../components/plain.jsx";\n\n' + VIEW % "<Crad />",
    ),
    "pages/twice.fxl:1": (ERROR, LOOKED_FOR_BY_ALL, "const a = 1;\nconst a = 2;\n\n" + UI % "a"),
    "pages/node.fxl:1": (ERROR, {"typecheck"}, 'import fs from "node:fs";\n\n' + UI % "fs"),
    "pages/link.fxl:4": (
        WARNING,
        {"build"},
        'import { Link } from "fx/client";\n\n' + VIEW % '<Link href="/away">x</Link>',
    ),
    "pages/prop.fxl:8": (
        WARNING,
        {"build"},
        LOADER.replace("1", "'x'")
        + '\nimport { Card } from "../components/card.tsx";\n\n'
        + VIEW % "<Card size={data.count} />",
    ),
    "pages/late.fxl:2": (WARNING, {"build"}, UI % "nowhere"),
    "pages/key.fxl:6": (WARNING, {"build"}, LOADER + "\n" + UI % "data.cuont"),
    "components/card.tsx:2": (WARNING, {"build"}, CARD % "sizes"),
    "components/plain.jsx:2": (
        WARNING,
        {"build", "typecheck"},
        "export function Plain() {\n  return <p>{nobody}</p>;\n}\n",
    ),
}
"""By place: what it weighs, commands that do not look for it, and the file. A build that fails
lists errors alone."""


KINDS = [*FindingKind] if LONG else [FindingKind.SETTINGS, FindingKind.LIKELY]
"""Each costs 11 CPU-seconds: one that ends all commands at once, and one that all of them find."""


@pytest.fixture(params=KINDS, ids=lambda kind: kind.value)
def kind(request: pytest.FixtureRequest) -> FindingKind:
    kind: FindingKind = request.param
    return kind


@pytest.fixture
def root(tmp_path: Path, kind: FindingKind, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one finding, where the store of channels is not installed."""
    away = "import sys\nsys.modules['coredis'] = None\n"
    write_tree(tmp_path / "site", {"sitecustomize.py": away})
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    files = {"pages/index.fxl": UI % "1", **CORPUS[kind].files}
    root = write_tree(tmp_path / "app", files)
    monkeypatch.chdir(root)
    return root


def fx(*arguments: str) -> str:
    """Return all that a command prints, which may fail."""
    done = subprocess.run(
        [sys.executable, "-m", "fxtrio", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if "--json" not in arguments else subprocess.DEVNULL,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    return done.stdout


def in_json(*arguments: str) -> set[tuple[str, Severity]]:
    found = json.loads(fx(*arguments, "--json"))["problems"]
    return {(f"{one['path']}:{one['line']}", Severity(one["severity"])) for one in found}


def in_lines(text: str, error: str, warning: str) -> set[tuple[str, Severity]]:
    """Read lines of a terminal that begin with a sign, a place and a message."""
    found = set()
    for line in text.splitlines():
        for sign, severity in ((error, Severity.ERROR), (warning, Severity.WARNING)):
            if line.startswith(sign):
                path, number, *_ = f"{line.removeprefix(sign)}:".split(":")
                found.add((":".join(filter(None, (path, number))), severity))
    return found


def test_every_kind_weighs_something_and_has_an_example() -> None:
    assert set(SEVERITIES) == set(CORPUS) == set(FindingKind)


def test_commands_say_the_same(kind: FindingKind, root: Path) -> None:
    finding = CORPUS[kind].place, SEVERITIES[kind]
    found_by = {"check": in_json("check", "--types")}
    if kind is FindingKind.SETTINGS:  # all others stop there
        found_by["typecheck"] = in_lines(fx("typecheck"), "error ", "warning ")
    else:
        strict = ["--strict"] if kind is FindingKind.UNKNOWN_TYPES else []
        found_by["typecheck"] = in_json("typecheck", *strict)
    found_by["build"] = in_lines(fx("build"), "error ", "warning ")
    for command, found in found_by.items():
        wanted = {finding} if command in CORPUS[kind].by else set()
        assert found == wanted, command
    assert (root / ".fx/build").exists() == (
        "build" not in CORPUS[kind].by or finding[1] is Severity.WARNING
    )


def test_fx_dev_says_the_same(kind: FindingKind, root: Path) -> None:
    if "dev" not in CORPUS[kind].by:
        return
    place, severity = CORPUS[kind].place, SEVERITIES[kind]
    if kind is FindingKind.SETTINGS:
        assert (place, severity) in in_lines(fx("dev", "--port", "0"), "error ", "warning ")
        return
    port = free_port()
    command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)]
    ready = 500 if kind is FindingKind.EXTRAS else 200  # it cannot start without
    with serving(command, root, port, ready=ready) as server:
        wait_for(server, f"{place}:")
        assert "Traceback" not in server.output()
        assert in_lines(server.output(), "✗ ", "! ") - STOPPED == {(place, severity)}


async def test_editors_say_the_same(kind: FindingKind, root: Path) -> None:
    if "lsp" not in CORPUS[kind].by:
        return
    file, _, line = CORPUS[kind].place.rpartition(":")
    numbers = {Severity.ERROR: 1, Severity.WARNING: 2}
    async with open_editor(root) as editor:
        await editor.open(root / "pages/index.fxl")
        uri = (root / file).as_uri()
        await editor.until(lambda: bool(editor.diagnostics.get(uri)))
        found = {
            (one["range"]["start"]["line"] + 1, one["severity"]) for one in editor.diagnostics[uri]
        }
    assert found == {(int(line), numbers[SEVERITIES[kind]])}


@pytest.mark.nightly
async def test_a_project_with_many_mistakes_has_one_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {place.partition(":")[0]: text for place, (_, _, text) in MANY.items()}
    root = write_tree(tmp_path, {"pages/index.fxl": UI % 1, **files})
    monkeypatch.chdir(root)

    def wanted(command: str) -> set[tuple[str, Severity]]:
        found = MANY.items()
        return {(place, weight) for place, (weight, but, _) in found if command not in but}

    found_by = {"check": in_json("check", "--types"), "typecheck": in_json("typecheck")}
    found_by["build"] = in_lines(fx("build"), "error ", "warning ")
    port = free_port()
    with serving(
        [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)], root, port
    ) as server:
        for place, _ in wanted("dev"):
            wait_for(server, f"{place}:")
        found_by["dev"] = in_lines(server.output(), "✗ ", "! ")
    async with open_editor(root) as editor:
        for file in files:
            await editor.open(root / file)
        wrong = {(root / place.partition(":")[0]).as_uri() for place, _ in wanted("lsp")}
        await editor.until(lambda: all(editor.diagnostics.get(uri) for uri in wrong))
        found_by["lsp"] = {
            (
                f"{file}:{one['range']['start']['line'] + 1}",
                ERROR if one["severity"] == 1 else WARNING,
            )
            for file in files
            for one in editor.diagnostics.get((root / file).as_uri(), [])
        }

    assert found_by == {command: wanted(command) for command in found_by}
