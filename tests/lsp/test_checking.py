"""The diagnostics of one file, whichever check comes first."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import trio
from lsprotocol.types import Diagnostic
from pygls.workspace import TextDocument
from trio.testing import wait_all_tasks_blocked

from fxtrio.compile.problems import Problem
from fxtrio.tools.lsp.checks.checking import Checking
from fxtrio.tools.lsp.documents.documents import Documents
from fxtrio.tools.lsp.documents.page import ParsedPage
from fxtrio.tools.lsp.documents.page_cache import PageCache
from fxtrio.tools.lsp.processes.ui_analysis import Analyst

PAGE = "export default function Page() {\n  return useAction('a');\n}\n"
UNDEFINED = Problem("a.fxl", 2, 10, "undefined name 'useAction'", "Import it")
UNTYPED = Problem("a.fxl", 2, 10, "Cannot find name 'useAction'", "Define it")


class _Analyst:
    async def problems(self, page: ParsedPage) -> list[Problem]:
        await trio.lowlevel.checkpoint()
        return [UNDEFINED]


async def test_a_mistake_that_two_checks_find_is_reported_once(
    tmp_path: Path, nursery: trio.Nursery
) -> None:
    (tmp_path / "fx.config.json").write_text("{}")
    (tmp_path / "a.fxl").write_text(PAGE)
    documents = Documents()
    messages: list[str] = []

    def publish(file: Path, version: int | None, found: list[Diagnostic]) -> None:
        messages[:] = [one.message for one in found]

    async def nothing(*_: object) -> None:
        await trio.lowlevel.checkpoint()

    checking = Checking(
        documents,
        PageCache(documents),
        cast("Analyst", _Analyst()),
        publish=publish,
        check_whole=nothing,
        check_types=nothing,
        wait_for_turn=nothing,
    )
    document = documents.take(TextDocument((tmp_path / "a.fxl").as_uri(), PAGE, 1))
    assert document is not None
    nursery.start_soon(checking.run)

    await checking.take(tmp_path, "types", [UNTYPED])
    while not messages:
        await trio.lowlevel.checkpoint()
    await wait_all_tasks_blocked()

    assert messages == ["undefined name 'useAction'. Import it."]
