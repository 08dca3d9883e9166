"""The compiler that `fx dev` keeps running reports what a new one reports, after each change."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

from fxtrio.compile.problems import Problem
from fxtrio.compile.project import check_project
from fxtrio.config import Config
from fxtrio.tools.types.gather.gatherer_process import project_types
from fxtrio.tools.types.report import tsc_server
from fxtrio.tools.types.report.checking import TypeCheck
from fxtrio.tools.types.report.compiler import Diagnostic, compile_types, ensure_compiler
from fxtrio.tools.types.report.tsc_server import TscServer
from fxtrio.tools.types.ui.virtual_project import TypesFolder
from tests.trees import write_tree
from tests.types.projects import write_project

VIEW = "export default function Page({ data }) {\n  return <p>{data.%s}</p>;\n}\n"
LOADER = '@server\nasync def load(request):\n    return {"%s": "x"}\n\n\n'
CARD = "export function Card(props: { size: number }) {\n  return <p>{props.size}</p>;\n}\n"
USER = (
    'import { Card } from "../components/card";\n\n'
    "const size: number = 1;\n"
    "export default function Page() {\n  return <Card size={size} />;\n}\n"
)


@attrs.define(eq=False)
class Both:
    """One project, checked by a compiler that keeps running and by a new one."""

    root: Path
    server: TscServer
    home: Path
    compiled: list[str] = attrs.field(factory=list)
    _check: TypeCheck = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        folder = TypesFolder(self.root, self.home)
        self._check = TypeCheck(folder, compile=self.server.compile)

    async def problems(self) -> tuple[Problem, ...]:
        """Return what both find, which is the same."""
        project = check_project(self.root, Config())
        types = await project_types(self.root, project)
        found = await self._check.run(project, types)
        fresh = TypeCheck(TypesFolder(self.root, self.home, Path(".fx/anew")))
        assert found == await fresh.run(project, types)
        return found

    def changed(self, *files: str) -> None:
        """Say that these have changed."""
        self._check.forget()
        self.server.forget(self.root / file for file in files)


@asynccontextmanager
async def checking(root: Path) -> AsyncIterator[Both]:
    home = await ensure_compiler(print)
    with trio.fail_after(240):
        async with trio.open_nursery() as nursery:
            yield Both(root, TscServer(nursery), home)
            nursery.cancel_scope.cancel()


async def never(folder: Path, compiler: Path) -> tuple[Diagnostic, ...]:
    raise AssertionError(f"the compiler restarts in {folder}")


@pytest.fixture
def without_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a running compiler that does not respond be a failure."""
    monkeypatch.setattr(tsc_server, "compile_types", never)


@pytest.mark.node
@pytest.mark.usefixtures("without_fallback")
@pytest.mark.parametrize("name", ["mistakes.txt"])
async def test_a_corpus_of_mistakes_has_the_same_findings(tmp_path: Path, name: str) -> None:
    write_project(name, tmp_path)
    async with checking(tmp_path) as both:
        first = await both.problems()
        assert len(first) > 10
        assert await both.problems() == first


@pytest.mark.node
@pytest.mark.usefixtures("without_fallback")
async def test_each_change_is_seen_in_what_it_concerns(tmp_path: Path) -> None:
    page = LOADER % "title" + VIEW % "title"
    write_tree(tmp_path, {"pages/index.fxl": page, "pages/other.fxl": USER})
    write_tree(tmp_path, {"components/card.tsx": CARD})
    async with checking(tmp_path) as both:

        async def found() -> list[tuple[str, int]]:
            return [(one.path, one.line) for one in await both.problems()]

        async def saved(files: dict[str, str]) -> list[tuple[str, int]]:
            write_tree(tmp_path, files)
            if any(not file.endswith(".fxl") for file in files):
                both.changed(*files)
            return await found()

        assert await found() == []
        # A UI half, and back.
        assert await saved({"pages/index.fxl": LOADER % "title" + VIEW % "titel"}) == [
            ("pages/index.fxl", 7)
        ]
        assert await saved({"pages/index.fxl": page}) == []
        # The type of what a loader returns.
        other = LOADER % "name" + VIEW % "title"
        assert await saved({"pages/index.fxl": other}) == [("pages/index.fxl", 7)]
        assert await saved({"pages/index.fxl": page}) == []
        # A component, one that comes, and one that goes.
        text = CARD.replace("number", "string")
        assert await saved({"components/card.tsx": text}) == [("pages/other.fxl", 5)]
        assert await saved({"components/card.tsx": CARD}) == []
        renamed = USER.replace("card", "late")
        assert await saved({"pages/other.fxl": renamed, "components/late.tsx": CARD}) == []
        (tmp_path / "components/late.tsx").unlink()
        both.changed("components/late.tsx")
        assert await found() == [("pages/other.fxl", 1)]
        # Names that are declared everywhere, by a file that another page imports.
        declared = "declare const VERSION: { %s: string };\n"
        asking = USER + "const shown = VERSION.name;\n"
        importing = 'import "../declared.d.ts";\n' + page
        files = {"pages/index.fxl": importing, "declared.d.ts": declared % "name"}
        assert await saved({**files, "pages/other.fxl": asking}) == []
        lines = asking.count("\n")
        assert await saved({"declared.d.ts": declared % "title"}) == [("pages/other.fxl", lines)]
        assert await saved({"declared.d.ts": declared % "name"}) == []
        assert await saved({"pages/index.fxl": page, "pages/other.fxl": renamed}) == [
            ("pages/other.fxl", 1)
        ]
        # Types that are written for the first time, and pages that come and go.
        typed = "const size: number = 'x';\n" + VIEW % "title"
        both_wrong = [("pages/a.fxl", 6), ("pages/other.fxl", 1)]
        assert await saved({"pages/a.fxl": LOADER % "title" + typed}) == both_wrong
        (tmp_path / "pages/a.fxl").unlink()
        assert await saved({"pages/other.fxl": USER}) == []


@pytest.mark.node
async def test_a_server_that_is_killed_is_replaced_and_nothing_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": LOADER % "title" + VIEW % "title"})
    processes: list[trio.Process] = []
    real: Any = trio.lowlevel.open_process

    async def open_process(*args: Any, **options: Any) -> trio.Process:
        processes.append(await real(*args, **options))
        return processes[-1]

    monkeypatch.setattr(trio.lowlevel, "open_process", open_process)
    async with checking(tmp_path) as both:
        assert await both.problems() == ()
        for kills in (1, 2):
            processes[-1].send_signal(signal.SIGKILL)
            text = LOADER % "title" + VIEW % f"titel{kills}"
            write_tree(tmp_path, {"pages/index.fxl": text})
            assert [one.line for one in await both.problems()] == [7]
        both.server.stop()  # on purpose: no failure
        assert both.server.failures <= 2
        write_tree(tmp_path, {"pages/index.fxl": LOADER % "title" + VIEW % "title"})
        assert await both.problems() == ()
    assert [process.returncode is not None for process in processes] == [True] * len(processes)


SERVERS = {
    "ends at once": "raise SystemExit(1)",
    "says nothing": "import sys; sys.stdin.read()",
    "says what is no message": "print('what?' * 2000, flush=True); import sys; sys.stdin.read()",
    "refuses": (
        "import json, sys\n"
        "body = json.dumps({'id': 0, 'error': {'code': -1, 'message': 'no'}})\n"
        "print(f'Content-Length: {len(body)}\\r\\n\\r\\n{body}', end='', flush=True)\n"
        "sys.stdin.read()"
    ),
}


@pytest.mark.parametrize("server", SERVERS)
async def test_a_server_that_is_of_no_use_is_not_requested_ever(
    tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "tsc"
    program.write_text(f"#!{sys.executable}\n{SERVERS[server]}\n")
    program.chmod(0o755)
    mistake = Diagnostic("pages/index.fxl.jsx", 1, 1, 2339, "no")
    compiled: list[Path] = []

    async def compile_in_full(folder: Path, compiler: Path) -> tuple[Diagnostic, ...]:
        compiled.append(folder)
        return (mistake,)

    monkeypatch.setattr(tsc_server, "compiler_program", lambda _: program)
    monkeypatch.setattr(tsc_server, "compile_types", compile_in_full)
    monkeypatch.setattr(tsc_server, "_TIMEOUT", 2.0 if server == "says nothing" else 60.0)
    write_tree(tmp_path, {"tsconfig.json": '{"files": []}'})
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            tsc = TscServer(nursery)
            for _ in range(tsc_server.MOST_FAILURES + 2):
                assert await tsc.compile(tmp_path, tmp_path) == (mistake,)
    assert tsc.failures == tsc_server.MOST_FAILURES
    assert len(compiled) == tsc_server.MOST_FAILURES + 2


@pytest.mark.node
@pytest.mark.usefixtures("without_fallback")
async def test_files_answered_before_a_cancelled_check_are_not_requested_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {f"pages/p{number}.fxl": LOADER % "title" + VIEW % "titel" for number in range(4)}
    write_tree(tmp_path, pages)
    monkeypatch.setattr(tsc_server, "_AT_ONCE", 1)
    requested: list[str] = []
    giving_up = trio.CancelScope()
    ask_all = tsc_server._Server.ask_all

    async def counted(server: Any, method: str, params: Any) -> Any:
        requested.append(method)
        if requested.count("textDocument/diagnostic") == 3:
            giving_up.cancel()
        return await ask_all(server, method, params)

    async with checking(tmp_path) as both:
        problems = await both.problems()
        tier = tmp_path / ".fx/types/loose"
        both.server.forget()
        monkeypatch.setattr(tsc_server._Server, "ask_all", counted)
        with giving_up:
            await both.server.compile(tier, both.home)
        assert len(requested) == 3
        found = await both.server.compile(tier, both.home)
        assert len(requested) == 5  # the third, which had no answer, and the fourth
    assert len(found) == len(problems) == 4


@pytest.mark.node
@pytest.mark.usefixtures("without_fallback")
async def test_files_of_a_cancelled_check_are_checked_by_the_next(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": LOADER % "title" + VIEW % "title"})
    async with checking(tmp_path) as both:
        assert await both.problems() == ()
        tier = tmp_path / ".fx/types/loose"
        page = tier / "pages/index.fxl.jsx"

        def compile_now() -> Awaitable[tuple[Diagnostic, ...]]:
            return both.server.compile(tier, both.home)

        text = page.read_text()
        for number in range(20):
            page.write_text(text.replace("data.title", f"data.titel{number}"))
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(compile_now)
                    for _ in range(number):
                        await trio.lowlevel.checkpoint()
                    scope.cancel()
        found = await compile_now()
        assert [one.code for one in found] == [2339]
        assert found == await compile_types(tier, both.home)


@pytest.mark.node
@pytest.mark.usefixtures("without_fallback")
async def test_a_server_that_nobody_has_greeted_to_the_end_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": LOADER % "title" + VIEW % "titel"})
    greeted: list[trio.CancelScope] = []
    greet: Any = tsc_server._Server.greet

    async def greet_later(server: Any, folder: Path) -> None:
        greeted.append(server.scope)
        if len(greeted) == 1:
            leaving.cancel("there is a newer version")
            await trio.lowlevel.checkpoint()
        await greet(server, folder)

    monkeypatch.setattr(tsc_server._Server, "greet", greet_later)
    async with checking(tmp_path) as both:
        with trio.CancelScope() as leaving:
            await both.problems()
        assert [one.line for one in await both.problems()] == [7]
        assert [scope.cancel_called for scope in greeted] == [True, False]
        assert both.server.failures == 0
