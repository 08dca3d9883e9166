"""`fx dev` shows mistakes of UI code, which keep no page from being served."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from fxtrio.develop.build.dev_project import DevProject
from fxtrio.develop.processes.messages import Swap, Swapped
from fxtrio.develop.reload.watcher import Changes
from tests.trees import write_tree

pytestmark = pytest.mark.node


async def swap(order: Swap) -> Swapped:
    """Stand in for the process that serves."""
    return Swapped()


async def test_mistakes_of_pages_and_components_are_printed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": "import { Form } from 'fx/client';\n"
            "import { Card } from '../card';\n"
            "export default () => <Form action='oder'><Card />{mesage}</Form>;\n",
            "card.jsx": "export const Card = () => <Crad />;\n",
        },
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sockets").mkdir()
    send, receive = trio.open_memory_channel[str](20)

    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            project = DevProject(
                root=tmp_path,
                sockets=tmp_path / "sockets",
                nursery=nursery,
                report=lambda line: None,
                found=lambda problem: send.send_nowait(str(problem)),
            )
            await project.prepare()
            lines = [await receive.receive() for _ in range(3)]
            for name in ("Crud", "Card2"):  # after each save
                card = f"export const Card = () => <{name} />;\n"
                write_tree(tmp_path, {"card.jsx": card})
                assert (await project.apply(Changes(("card.jsx",)), swap)).used
                lines.append(await receive.receive())
            write_tree(tmp_path, {"notes.txt": "nothing is made of it\n"})
            assert not (await project.apply(Changes(("notes.txt",)), swap)).used
            nursery.cancel_scope.cancel()

    # Two checks know of the mistakes in the page: the first to come tells them.
    assert sorted(line.partition(": ")[0] for line in lines[:3]) == [
        "card.jsx:1:28",
        "pages/index.fxl:3:35",
        "pages/index.fxl:3:51",
    ]
    assert [line.partition(": ")[0] for line in lines[3:]] == ["card.jsx:1:28"] * 2
    assert "Crud" in lines[3] and "Card2" in lines[4]
    assert (tmp_path / ".fx/dev/manifest.json").is_file()
