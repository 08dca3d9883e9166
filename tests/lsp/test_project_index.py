from __future__ import annotations

from pathlib import Path

import pytest
import trio

from fxtrio.compile.problems import Problem
from fxtrio.compile.project import CheckedProject
from fxtrio.tools.lsp import project_index
from fxtrio.tools.types.gather.page_types import PageTypes, ProjectTypes
from tests.trees import write_tree

PAGE = "@server\nasync def load(request):\n    return {'title': %r}\n\n\n%s\n"
VIEW = "export default () => <p />;"


async def test_python_is_imported_again_only_when_it_may_be_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered = 0
    checked = trio.Event()

    async def project_types(root: Path, project: CheckedProject) -> ProjectTypes:
        nonlocal gathered
        gathered += 1
        return ProjectTypes((PageTypes("pages/index.fxl", "page"),))

    async def take(root: Path, kind: str, found: list[Problem]) -> None:
        if kind == "python":  # the last
            checked.set()

    class Checks:
        def __init__(self, report: object) -> None:
            pass

        async def ui_problems(self, *_: object) -> list[Problem]:
            return []

        python_problems = ui_problems

    monkeypatch.setattr(project_index, "project_types", project_types)
    monkeypatch.setattr(project_index, "TypeChecks", Checks)
    known = project_index.ProjectIndex(print, take)

    async def saved(python: str, ui: str, *, pages_only: bool) -> int:
        nonlocal checked
        checked = trio.Event()
        write_tree(tmp_path, {"pages/index.fxl": PAGE % (python, ui)})
        known.refresh(tmp_path, pages_only=pages_only)
        await checked.wait()
        return gathered

    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(known.run)
            found = [
                await saved("a", VIEW, pages_only=True),
                await saved("a", f"{VIEW}\n// more\n", pages_only=True),
                await saved("b", VIEW, pages_only=True),
                await saved("b", VIEW, pages_only=False),
            ]
            nursery.cancel_scope.cancel()

    assert found == [1, 1, 2, 3]
