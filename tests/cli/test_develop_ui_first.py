"""Browsers get a UI half before anything else is worked out for the page, as far as it must be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from fxtrio.compile.build_steps import make_manifest
from fxtrio.develop.build import dev_project
from fxtrio.develop.build.dev_project import DevProject
from fxtrio.develop.processes.messages import Swap, Swapped
from fxtrio.develop.reload.watcher import Changes
from fxtrio.develop.vite.vite_supervisor import ViteSupervisor
from tests.trees import write_tree

pytestmark = pytest.mark.node

PAGE = """@server
async def load(request):
    return {"name": "one"}


export default ({ data }) => <h1>Hello, {data.name}</h1>;
"""


async def test_node_gets_a_ui_half_before_the_manifest_is_made_if_that_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"fx.config.json": "{}", "pages/index.fxl": PAGE})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sockets").mkdir()
    steps: list[str] = []
    ask = ViteSupervisor.ask

    async def asking(vite: ViteSupervisor, op: str, fields: dict[str, Any]) -> Any:
        if op == "change":
            steps.append("browsers")
        return await ask(vite, op, fields)

    def making(*args: Any) -> Any:
        steps.append("manifest")
        return make_manifest(*args)

    async def swap(order: Swap) -> Swapped:
        steps.append("Python")
        return Swapped()

    monkeypatch.setattr(ViteSupervisor, "ask", asking)
    monkeypatch.setattr(dev_project, "make_manifest", making)
    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            workshop = DevProject(
                root=tmp_path,
                sockets=tmp_path / "sockets",
                nursery=nursery,
                report=lambda line: None,
                found=lambda problem: None,
            )
            await workshop.prepare()

            async def saved(before: str, after: str) -> list[str]:
                steps.clear()
                write_tree(tmp_path, {"pages/index.fxl": PAGE.replace(before, after)})
                await workshop.apply(Changes(("pages/index.fxl",)), swap)
                return list(steps)

            assert await saved("Hello", "Welcome") == ["browsers"]
            assert await saved("Hello", "Suspense") == ["browsers", "manifest"]
            assert await saved('"one"', '"two"') == ["manifest", "Python", "browsers"]
            nursery.cancel_scope.cancel()
