"""What changes while everything starts anew: Node goes on, and has to be told all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from fxtrio.develop.build.dev_project import DevProject
from fxtrio.develop.processes.messages import Swap, Swapped
from fxtrio.develop.reload.watcher import Changes
from fxtrio.develop.vite.vite_supervisor import ViteSupervisor
from tests.trees import write_tree

pytestmark = pytest.mark.node

PAGE = "import './look.css';\nexport default () => <h1>one</h1>;\n"


async def needs_restart(order: Swap) -> Swapped:
    return Swapped(restart="a class has instances")


@pytest.mark.parametrize("cause", ["settings", "unsafe module", "failure"])
async def test_node_learns_of_what_was_saved_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cause: str
) -> None:
    write_tree(
        tmp_path,
        {
            "fx.config.json": "{}",
            "rules.py": "A = 1\n",
            "pages/index.fxl": PAGE,
            "pages/look.css": "h1 { color: red }\n",
            "pages/old.fxl": "export default () => <h1>old</h1>;\n",
        },
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sockets").mkdir()
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
            told: list[dict[str, Any]] = []
            ask = ViteSupervisor.ask

            async def asking(vite: ViteSupervisor, op: str, fields: dict[str, Any]) -> Any:
                if op == "change":
                    told.append(fields)
                return await ask(vite, op, fields)

            monkeypatch.setattr(ViteSupervisor, "ask", asking)
            write_tree(
                tmp_path,
                {
                    "fx.config.json": '{"csrf": true}',
                    "rules.py": "A = 2\n",
                    "pages/index.fxl": PAGE.replace("one", "two"),
                    "pages/look.css": "h1 { color: blue }\n",
                },
            )
            (tmp_path / "pages/old.fxl").unlink()
            files = ["pages/index.fxl", "pages/look.css", "pages/old.fxl", "rules.py"]
            if cause == "failure":
                workshop.miss(Changes(tuple(files)))
            else:
                files += ["fx.config.json"] if cause == "settings" else []
                applied = await workshop.apply(Changes(tuple(files)), needs_restart)
                assert applied.restart
            await workshop.prepare()
            nursery.cancel_scope.cancel()

    ui = [(one["type"], one["file"]) for fields in told for one in fields["ui"]]
    assert sorted(ui) == [("change", "pages/index.fxl"), ("unlink", "pages/old.fxl")]
    css = str(tmp_path / "pages/look.css")
    assert [one for fields in told for one in fields["files"]] == [{"type": "change", "file": css}]
