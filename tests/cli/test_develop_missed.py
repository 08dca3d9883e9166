"""Changes during a restart: Node keeps running, and has to be notified all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from fxtrio.compile.bundling.bundle_errors import BundlerCrashed
from fxtrio.develop.build.dev_project import DevProject
from fxtrio.develop.processes.launch import Ahead
from fxtrio.develop.processes.messages import Swap, Swapped
from fxtrio.develop.reload.watcher import Changes
from fxtrio.develop.vite.vite_supervisor import ViteSupervisor
from tests.trees import write_tree

pytestmark = pytest.mark.node

PAGE = "import './look.css';\nexport default () => <h1>one</h1>;\n"


def in_folder(root: Path, nursery: trio.Nursery) -> DevProject:
    return DevProject(
        root=root,
        sockets=root / "sockets",
        nursery=nursery,
        report=lambda line: None,
        found=lambda problem: None,
    )


def record_orders(monkeypatch: pytest.MonkeyPatch, kind: str) -> list[dict[str, Any]]:
    """Return the list to which the fields of every later order of one kind to Node are added."""
    orders: list[dict[str, Any]] = []
    ask = ViteSupervisor.ask

    async def asking(vite: ViteSupervisor, op: str, fields: dict[str, Any]) -> Any:
        if op == kind:
            orders.append(fields)
        return await ask(vite, op, fields)

    monkeypatch.setattr(ViteSupervisor, "ask", asking)
    return orders


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
            project = in_folder(tmp_path, nursery)
            await project.prepare()
            orders = record_orders(monkeypatch, "change")
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
                project.miss(Changes(tuple(files)))
            else:
                files += ["fx.config.json"] if cause == "settings" else []
                applied = await project.apply(Changes(tuple(files)), needs_restart)
                assert applied.restart
            await project.prepare()
            nursery.cancel_scope.cancel()

    ui = [(one["type"], one["file"]) for fields in orders for one in fields["ui"]]
    assert sorted(ui) == [("change", "pages/index.fxl"), ("unlink", "pages/old.fxl")]
    css = str(tmp_path / "pages/look.css")
    assert [one for fields in orders for one in fields["files"]] == [
        {"type": "change", "file": css}
    ]


@pytest.mark.parametrize(
    ("order", "files"),
    [
        ("site", {"pages/index.fxl": PAGE.replace("one", "two"), "pages/b.fxl": PAGE}),
        ("change", {"pages/index.fxl": PAGE.replace("one", "two"), "rules.py": "A = 2\n"}),
    ],
)
async def test_node_learns_of_what_it_has_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str, files: dict[str, str]
) -> None:
    write_tree(tmp_path, {"fx.config.json": "{}", "rules.py": "A = 1\n", "pages/index.fxl": PAGE})
    write_tree(tmp_path, {"pages/look.css": "", "pages/old.fxl": PAGE})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sockets").mkdir()
    failures = [BundlerCrashed(0, "once")]
    taken: list[tuple[str, dict[str, Any]]] = []
    ask = ViteSupervisor.ask

    async def asking(vite: ViteSupervisor, op: str, fields: dict[str, Any]) -> Any:
        if op == order and failures:
            raise failures.pop()
        taken.append((op, fields))
        return await ask(vite, op, fields)

    async def swap(order: Swap) -> Swapped:
        return Swapped(modules=1)

    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            project = in_folder(tmp_path, nursery)
            await project.prepare()
            monkeypatch.setattr(ViteSupervisor, "ask", asking)
            write_tree(tmp_path, files)
            saved = list(files)
            if order == "site":  # as many views as before
                (tmp_path / "pages/old.fxl").unlink()
                saved.append("pages/old.fxl")
            with pytest.raises(BundlerCrashed):
                await project.apply(Changes(tuple(saved)), swap)
            project.miss(Changes(tuple(saved)))
            await project.prepare()
            nursery.cancel_scope.cancel()

    ui = [(one["type"], one["file"]) for op, sent in taken if op == "change" for one in sent["ui"]]
    others = [("add", "pages/b.fxl"), ("unlink", "pages/old.fxl")] if order == "site" else []
    assert sorted(ui) == sorted([("change", "pages/index.fxl"), *others])
    if order == "site":  # it may have some of the views
        assert ["plan" in sent for op, sent in taken if op == "site"] == [True]


def displayed_files(orders: list[tuple[str, dict[str, Any]]]) -> dict[str, list[str]]:
    """Return the files of the problems that browsers show after ``orders``, by who found them."""
    displayed: dict[str, list[Any]] = {}
    for op, fields in orders:
        found = {fields["key"]: fields["problems"]} if op == "problems" else fields.get("problems")
        displayed |= found if op in ("problems", "change") and found else {}
    return {
        key: [Path(one["file"]).name for one in found] for key, found in displayed.items() if found
    }


@pytest.mark.parametrize("taken", [True, False])
async def test_node_shows_what_is_wrong_after_an_order_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, taken: bool
) -> None:
    write_tree(tmp_path, {"fx.config.json": "{}", "pages/index.fxl": PAGE, "pages/b.fxl": PAGE})
    write_tree(tmp_path, {"pages/look.css": ""})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sockets").mkdir()
    orders: list[tuple[str, dict[str, Any]]] = []
    failures: list[BundlerCrashed] = []
    ask = ViteSupervisor.ask

    async def asking(vite: ViteSupervisor, op: str, fields: dict[str, Any]) -> Any:
        failure = failures.pop() if op == "change" and failures else None
        if failure is None or taken:
            orders.append((op, fields))
        if failure is not None:
            raise failure
        return await ask(vite, op, fields)

    async def swap(order: Swap) -> Swapped:
        return Swapped(modules=1)

    async def save_failing(project: DevProject, text: str) -> None:
        write_tree(tmp_path, {"pages/b.fxl": text})
        failures.append(BundlerCrashed(0, "once"))
        changes = Changes(("pages/b.fxl",))
        with pytest.raises(BundlerCrashed):
            await project.apply(changes, swap)
        project.miss(changes)

    monkeypatch.setattr(ViteSupervisor, "ask", asking)
    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            project = in_folder(tmp_path, nursery)
            await project.prepare()
            await save_failing(project, "nowhere = missing\n\n" + PAGE)
            await project.prepare()
            assert displayed_files(orders) == {"pages": ["b.fxl"]}
            await save_failing(project, PAGE)
            await project.prepare()
            assert displayed_files(orders) == {}
            nursery.cancel_scope.cancel()


async def test_an_env_file_stays_wrong_until_it_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"fx.config.json": "{}", "rules.py": "A = 1\n", "pages/index.fxl": PAGE})
    write_tree(tmp_path, {"pages/look.css": ""})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sockets").mkdir()
    orders: list[tuple[str, dict[str, Any]]] = []
    ask = ViteSupervisor.ask

    async def asking(vite: ViteSupervisor, op: str, fields: dict[str, Any]) -> Any:
        orders.append((op, fields))
        return await ask(vite, op, fields)

    async def swap(order: Swap) -> Swapped:
        return Swapped(restart=order.restart) if order.restart else Swapped(modules=1)

    monkeypatch.setattr(ViteSupervisor, "ask", asking)
    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            project = in_folder(tmp_path, nursery)
            await project.prepare()
            write_tree(tmp_path, {".env": "SECRET\n"})
            applied = await project.apply(Changes((".env",)), swap)
            assert [one.partition(":")[0] for one in applied.problems] == [".env"]
            assert displayed_files(orders) == {"python": [".env"]}
            write_tree(tmp_path, {"rules.py": "A = 2\n"})
            applied = await project.apply(Changes(("rules.py",)), swap)
            assert [one.partition(":")[0] for one in applied.problems] == [".env"]
            assert displayed_files(orders) == {"python": [".env"]}
            write_tree(tmp_path, {".env": "SECRET=1\n"})
            assert (await project.apply(Changes((".env",)), swap)).restart == ".env has changed"
            assert displayed_files(orders) == {}
            nursery.cancel_scope.cancel()


SERVER = "@server\nasync def load(request):\n    return {'n': %d}\n\n\n"


@pytest.mark.parametrize("has_imported", [True, False], ids=["imported", "not imported"])
async def test_a_page_that_is_saved_during_a_restart_is_swapped_in_what_has_imported_the_former(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_imported: bool
) -> None:
    files = {"fx.config.json": "{}", "pages/index.fxl": SERVER % 1 + PAGE, "pages/look.css": ""}
    write_tree(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sockets").mkdir()
    orders: list[Swap] = []

    async def swap(order: Swap) -> Swapped:
        orders.append(order)
        return Swapped(restart=order.restart)

    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            project = in_folder(tmp_path, nursery)
            await project.prepare()
            write_tree(tmp_path, {"fx.config.json": '{"csrf": true}'})
            assert (await project.apply(Changes(("fx.config.json",)), swap)).restart
            monkeypatch.setattr(Ahead, "has_begun", has_imported)
            write_tree(tmp_path, {"pages/index.fxl": SERVER % 2 + PAGE})
            await project.prepare()
            await project.apply(Changes(("pages/index.fxl",)), swap)
            nursery.cancel_scope.cancel()

    swapped = [order.sources for order in orders[1:]]
    assert swapped == ([("pages/index.fxl",)] if has_imported else [])


@pytest.mark.parametrize("file", ["fx.config.json", "package.json", "migrations/0001_a.sql"])
async def test_a_restart_that_a_break_has_prevented_comes_when_it_is_corrected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    settings = '{"database": {"url": "sqlite:///a.db"}}'
    files = {"fx.config.json": settings, "rules.py": "A = 1\n", "pages/index.fxl": PAGE}
    write_tree(tmp_path, {**files, "pages/look.css": ""})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sockets").mkdir()

    async def swap(order: Swap) -> Swapped:
        if "(" in (tmp_path / "rules.py").read_text():
            return Swapped(failed="SyntaxError: (", error="SyntaxError: (")
        return Swapped(restart=order.restart)

    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            project = in_folder(tmp_path, nursery)
            await project.prepare()
            texts = {file: settings if file == "fx.config.json" else "{}"}
            write_tree(tmp_path, {**texts, "rules.py": "A = (\n"})
            broken = await project.apply(Changes((file, "rules.py")), swap)
            write_tree(tmp_path, {"rules.py": "A = 2\n"})
            mended = await project.apply(Changes(("rules.py",)), swap)
            nursery.cancel_scope.cancel()

    assert (broken.restart, broken.problems) == ("", ("SyntaxError: (",))
    assert mended.restart


@pytest.mark.parametrize("page", ["pages/index.fxl", "pages/new.fxl"])
async def test_a_page_that_cannot_be_imported_prevents_the_restart_that_is_due_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    write_tree(tmp_path, {"fx.config.json": "{}", "pages/index.fxl": SERVER % 1 + PAGE})
    write_tree(tmp_path, {"pages/look.css": ""})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sockets").mkdir()
    orders: list[Swap] = []

    async def swap(order: Swap) -> Swapped:
        orders.append(order)
        return Swapped(failed="NameError: n", error="NameError: n")

    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            project = in_folder(tmp_path, nursery)
            await project.prepare()
            settings = {"fx.config.json": '{"csrf": true}'}
            write_tree(tmp_path, {**settings, page: SERVER % 2 + PAGE})
            applied = await project.apply(Changes((page, "fx.config.json")), swap)
            nursery.cancel_scope.cancel()

    assert (applied.restart, applied.problems) == ("", ("NameError: n",))
    assert [(bool(order.restart), order.sources) for order in orders] == [
        (True, ()),
        (False, (page,)),
    ]


async def test_another_folder_of_pages_is_compiled_before_a_process_imports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"fx.config.json": "{}", "pages/index.fxl": PAGE, "pages/look.css": ""})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sockets").mkdir()

    async def swap(order: Swap) -> Swapped:
        raise AssertionError(order)

    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            project = in_folder(tmp_path, nursery)
            await project.prepare()
            (tmp_path / "pages").rename(tmp_path / "views")
            write_tree(tmp_path, {"fx.config.json": '{"pagesDir": "views"}'})
            moved = ("pages", "pages/index.fxl", "views", "views/index.fxl")
            assert (await project.apply(Changes((*moved, "fx.config.json")), swap)).restart
            await project.prepare()
            nursery.cancel_scope.cancel()
    assert project.config.pages_dir == "views"


async def test_a_mistake_of_the_process_before_has_left_the_overlay_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"fx.config.json": "{}", "pages/index.fxl": PAGE, "pages/look.css": ""})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sockets").mkdir()

    async def swap(order: Swap) -> Swapped:
        return Swapped(failed="NameError: n", error="NameError: n")

    with trio.fail_after(120):
        async with trio.open_nursery() as nursery:
            project = in_folder(tmp_path, nursery)
            await project.prepare()
            assert (await project.apply(Changes(("rules.py",)), swap)).problems
            orders = record_orders(monkeypatch, "problems")
            project.miss(Changes(("rules.py",)))  # as when the developer asks for another process
            await project.prepare()
            nursery.cancel_scope.cancel()
    assert {"key": "python", "problems": []} in orders
