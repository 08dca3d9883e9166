"""Browsers get a UI half before anything else is worked out for the page, as far as it must be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from fxtrio.compile.build_steps import make_manifest
from fxtrio.develop.build import build_files
from fxtrio.develop.build.dev_project import DevProject
from fxtrio.develop.processes.messages import Swap, Swapped
from fxtrio.develop.reload.watcher import Changes
from fxtrio.develop.vite.vite import OrderVoid
from fxtrio.develop.vite.vite_supervisor import ViteSupervisor
from fxtrio.manifest import FOLDERS
from tests.trees import write_tree

pytestmark = pytest.mark.node

PAGE = """@server
async def load(request):
    return {"name": "one"}


export default ({ data }) => <h1>Hello, {data.name}</h1>;
"""


async def test_browsers_get_what_they_show_first_and_what_is_wrong_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"fx.config.json": "{}", "pages/index.fxl": PAGE})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sockets").mkdir()
    steps: list[str] = []
    orders: list[tuple[str, dict[str, Any]]] = []
    failing: list[str] = []
    lost: list[bool] = []
    ask = ViteSupervisor.ask

    async def asking(vite: ViteSupervisor, op: str, fields: dict[str, Any]) -> Any:
        orders.append((op, fields))
        if op == "change":
            steps.append("browsers")
            sent.append((fields["ui"], half.read_text()))
            if lost:
                raise OrderVoid
        return await ask(vite, op, fields)

    def making(*args: Any) -> Any:
        steps.append("manifest")
        return make_manifest(*args)

    at_once: list[bool] = []
    sent: list[tuple[list[dict[str, str]], str]] = []
    half = tmp_path / FOLDERS["development"] / "ui/pages/index.fxl.tsx"

    async def swap(order: Swap) -> Swapped:
        steps.append("Python")
        at_once.append(order.at_once)
        return Swapped(failed="".join(failing), error="".join(failing))

    monkeypatch.setattr(ViteSupervisor, "ask", asking)
    monkeypatch.setattr(build_files, "make_manifest", making)
    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            project = DevProject(
                root=tmp_path,
                sockets=tmp_path / "sockets",
                nursery=nursery,
                report=lambda line: None,
                found=lambda problem: None,
            )
            await project.prepare()

            async def saved(before: str, after: str) -> list[str]:
                steps.clear()
                write_tree(tmp_path, {"pages/index.fxl": PAGE.replace(before, after)})
                await project.apply(Changes(("pages/index.fxl",)), swap)
                return list(steps)

            plain = trio.to_thread.run_sync

            def noted(function: Callable[..., Any], *args: Any, **options: Any) -> Awaitable[Any]:
                steps.append("a thread")  # whose turn comes late on a busy machine
                return plain(function, *args, **options)

            monkeypatch.setattr(trio.to_thread, "run_sync", noted)
            assert await saved("Hello", "Welcome") == ["browsers"]
            [([change], before)] = sent  # the disk comes afterwards
            assert (change["text"], "Welcome" in before) == (half.read_text(), False)
            assert "Welcome" in change["text"]
            assert await saved("Hello", "Suspense") == ["browsers", "manifest"]
            assert await saved('"one"', '"two"') == ["manifest", "Python", "browsers"]

            write_tree(tmp_path, {"pages/_part.jsx": "export const part = 1;\n"})
            new, other = ("pages/new.fxl", PAGE), PAGE.replace("<h1>", "<h1>1")
            both, data, again = (
                ("pages/index.fxl", other.replace("one", name)) for name in ("one", "1", "2")
            )
            at_once.clear()
            for files in ([new], [both], [data], [again, ("pages/_part.jsx", "export {};\n")]):
                write_tree(tmp_path, dict(files))
                await project.apply(Changes(tuple(name for name, _ in files)), swap)
            (tmp_path / "pages/new.fxl").unlink()
            await project.apply(Changes(("pages/new.fxl",)), swap)
            write_tree(tmp_path, dict([new]))  # browsers may have its UI half of before
            await project.apply(Changes(("pages/new.fxl",)), swap)
            assert at_once == [True, False, True, False, True, False]

            async def counts_after(before: str, after: str) -> list[tuple[str, dict[str, int]]]:
                orders.clear()
                await saved(before, after)
                return [
                    (op, {key: len(wrong) for key, wrong in fields["problems"].items()})
                    for op, fields in orders
                    if op in ("change", "problems")
                ]

            assert await counts_after("return", "return =") == [("change", {"pages": 1})]
            assert await counts_after("Hello", "Hello") == [("change", {"pages": 0})]
            failing.append("ValueError: no name")
            assert await counts_after('"one"', "str()") == [("change", {"python": 1})]
            failing.clear()
            assert await counts_after('"one"', '"two"') == [("change", {"python": 0})]

            await saved("Hello", "Hello")
            lost.append(True)  # as where Node ends before it has answered
            with pytest.raises(OrderVoid):
                await saved("Hello", "Goodbye")
            assert "Goodbye" in half.read_text()
            nursery.cancel_scope.cancel()
