"""New code takes the place of old code in an app that runs."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
import trio

from fxtrio.application import Application
from fxtrio.compile.build import compile_server
from fxtrio.config import Config, load_config
from fxtrio.develop.processes.messages import Swap
from fxtrio.develop.reload.hot_reload import Swapper
from fxtrio.develop.reload.import_graph import Importers, noting_imports
from fxtrio.develop.report.request_logs import Records
from fxtrio.imports import reimported
from fxtrio.manifest import View
from fxtrio.serve import site_routes
from fxtrio.serve.pages import site
from fxtrio.serve.pages.html.document import DocumentFrame, document_frame
from fxtrio.serve.pages.page import Target, literal_target
from fxtrio.serve.pages.plan import ViewPlan, plan_view
from fxtrio.ssr.frames import Rendered
from fxtrio.testing.client import Client
from tests.trees import write_tree

PAGE = (
    "from shop_swap.stock import count\n\n\n@server\nasync def load(request):\n"
    "    return {'rows': count(), 'title': 'one'}\n\n\n"
    "async def websocket(ws):\n    await ws.accept()\n    await ws.receive_text()\n\n\n"
    "export default ({ data }) => <p>{data.title}</p>;\n"
)
OTHER = (
    "from shop_swap.state import SEEN\n\n\n@server\nasync def load(request):\n"
    "    SEEN.append(1)\n    return {'seen': len(SEEN)}\n\n\n"
    "export default ({ data }) => <p>{data.seen}</p>;\n"
)
PROJECT = {
    "pages/index.fxl": PAGE,
    "pages/other.fxl": OTHER,
    "pages/api/plain.py": "from shop_swap.stock import count\n\n\n"
    "async def get(request):\n    return {'rows': count()}\n",
    "shop_swap/__init__.py": "",
    "shop_swap/stock.py": "from shop_swap.units import UNIT\n\n\n"
    "def count():\n    return 3 * UNIT\n",
    "shop_swap/units.py": "UNIT = 1\n",
    "shop_swap/state.py": "SEEN = []\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    write_tree(tmp_path, PROJECT)
    yield tmp_path
    sys.path[:] = [entry for entry in sys.path if entry != str(tmp_path)]
    for name in [name for name in sys.modules if name.startswith("shop_swap")]:
        del sys.modules[name]


class Blank:
    """Renders nothing."""

    async def render(self, page: int, payload: bytes) -> Rendered:
        return Rendered(b"", b"<p></p>")


@asynccontextmanager
async def no_renderer(config: Config) -> AsyncIterator[Any]:
    yield Blank()


class Developed:
    """One app, and what changes it."""

    def __init__(self, root: Path, importers: Importers) -> None:
        self.root = root
        self.swapper = Swapper(
            root=root, open_renderer=no_renderer, importers=importers, records=Records(root)
        )
        self.app = self._make()

    def _make(self) -> Application:
        config, build = load_config(self.root), self.root / ".fx/dev"
        manifest = compile_server(self.root, config, build, mode="development")
        return self.swapper.make_app(self.root, config, build, manifest)

    def edit(self, file: str, old: str, new: str) -> Swap:
        path = self.root / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        return self.saved(file)

    def saved(self, file: str) -> Swap:
        compile_server(self.root, load_config(self.root), self.root / ".fx/dev", mode="development")
        if file.endswith(".fxl"):
            return Swap(sources=(file,))
        return Swap(files=(str(self.root / file),))


@asynccontextmanager
async def developed(root: Path) -> AsyncIterator[tuple[Developed, Any]]:
    with noting_imports(root) as importers:
        project = Developed(root, importers)
        async with project.app.router.lifespan_context(project.app):
            yield project, Client(project.app)


async def data(client: Any, path: str) -> Any:
    answer = await client.get(path, headers={"x-fx-navigation": "1"})
    return answer.json()["props"]["data"]


async def test_the_server_half_of_a_page_is_swapped_and_nothing_else(root: Path) -> None:
    async with developed(root) as (project, client):
        await data(client, "/other")
        done = project.swapper.swap(project.edit("pages/index.fxl", "'one'", "'two'"))

        assert (done.sources, done.modules) == (("pages/index.fxl",), 1)
        assert (await data(client, "/"))["title"] == "two"
        assert (await data(client, "/other"))["seen"] == 2


async def test_a_module_takes_all_with_it_that_import_it(root: Path) -> None:
    async with developed(root) as (project, client):
        await data(client, "/other")
        done = project.swapper.swap(project.edit("shop_swap/units.py", "1", "10"))

        assert set(done.sources) == {"pages/index.fxl", "pages/api/plain.py"}
        assert (await data(client, "/"))["rows"] == 30
        assert (await client.get("/api/plain")).json()["rows"] == 30
        assert (await data(client, "/other"))["seen"] == 2


async def test_two_texts_of_the_same_second_and_size_are_two(root: Path) -> None:
    async with developed(root) as (project, client):
        for unit in (2, 3, 4, 5):
            file = root / "shop_swap/units.py"
            file.write_text(f"UNIT = {unit}\n")
            project.swapper.swap(project.saved("shop_swap/units.py"))

            assert (await data(client, "/"))["rows"] == 3 * unit


async def test_code_that_cannot_be_imported_leaves_what_was_there(root: Path) -> None:
    async with developed(root) as (project, client):
        before = sys.modules["shop_swap.stock"]
        done = project.swapper.swap(project.edit("shop_swap/units.py", "1", "1 / 0"))

        assert done.error == "ZeroDivisionError: division by zero"
        assert f'File "{root}/shop_swap/units.py", line 1' in done.failed
        assert (await data(client, "/"))["rows"] == 3
        assert sys.modules["shop_swap.stock"] is before
        done = project.swapper.swap(project.edit("shop_swap/units.py", "1 / 0", "7"))
        assert (await data(client, "/"))["rows"] == 21


async def test_modules_that_use_each_other_since_this_change_are_all_new(root: Path) -> None:
    async with developed(root) as (project, client):
        (root / "shop_swap/colour.py").write_text("COLOUR = 'red'\n")
        project.swapper.swap(
            project.edit("pages/index.fxl", "'one'", "__import__('shop_swap.colour').colour.COLOUR")
        )
        (root / "shop_swap/colour.py").write_text(
            "from shop_swap.units import UNIT\nCOLOUR = UNIT\n"
        )
        (root / "shop_swap/units.py").write_text("UNIT = 5\n")
        files = ("shop_swap/colour.py", "shop_swap/units.py")
        project.swapper.swap(Swap(files=tuple(str(root / file) for file in files)))

        assert await data(client, "/") == {"rows": 15, "title": 5}


async def test_a_removed_module_is_unloaded_with_its_import(root: Path) -> None:
    async with developed(root) as (project, client):
        stock, units = root / "shop_swap/stock.py", root / "shop_swap/units.py"
        stock.write_text("def count():\n    return 8\n")
        text = units.read_text()
        units.unlink()
        done = project.swapper.swap(Swap(files=(str(stock), str(units))))

        assert (done.failed, (await data(client, "/"))["rows"]) == ("", 8)
        assert "shop_swap.units" not in sys.modules
        units.write_text(text)
        assert project.swapper.swap(Swap(files=(str(units),))).modules == 0  # nobody's now


async def test_a_package_that_is_run_again_still_has_its_modules(root: Path) -> None:
    async with developed(root) as (project, client):
        use = "(lambda: __import__('shop_swap.state').state.SEEN)()"
        project.swapper.swap(project.edit("pages/index.fxl", "'one'", use))
        project.swapper.swap(project.edit("shop_swap/__init__.py", "", "VERSION = 2\n"))

        assert (await data(client, "/"))["title"] == []


async def test_a_text_that_does_not_parse_is_reported_without_its_caller(root: Path) -> None:
    async with developed(root) as (project, _):
        done = project.swapper.swap(project.edit("shop_swap/units.py", "UNIT = 1", "UNIT = ("))

        assert done.failed.startswith(f'  File "{root}/shop_swap/units.py", line 1')


async def test_a_request_ends_with_the_code_it_began_with(root: Path) -> None:
    begun, go_on = trio.Event(), trio.Event()
    page = PAGE.replace("    return", "    await request.app.state.pause()\n    return")
    (root / "pages/index.fxl").write_text(page)
    found: list[str] = []

    async def pause() -> None:
        begun.set()
        await go_on.wait()

    async with developed(root) as (project, client):
        project.app.state.pause = pause

        async def ask() -> None:
            found.append((await data(client, "/"))["title"])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await begun.wait()
            project.swapper.swap(project.edit("pages/index.fxl", "'one'", "'two'"))
            go_on.set()
        await ask()

    assert found == ["one", "two"]


async def test_pages_come_and_go(root: Path) -> None:
    async with developed(root) as (project, client):
        assert (await client.get("/fresh", headers={"x-fx-navigation": "1"})).status_code == 404
        (root / "pages/fresh.fxl").write_text(PAGE.replace("one", "fresh"))
        project.swapper.swap(project.saved("pages/fresh.fxl"))
        assert (await data(client, "/fresh"))["title"] == "fresh"
        (root / "pages/fresh.fxl").unlink()
        project.swapper.swap(project.saved("pages/fresh.fxl"))
        assert (await client.get("/fresh", headers={"x-fx-navigation": "1"})).status_code == 404


async def test_a_new_page_leaves_the_plans_of_other_views_as_they_are(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with developed(root) as (project, _):
        planned: list[str] = []

        def noted(view: View, *args: Any, **named: Any) -> ViewPlan:
            planned.append(view.module)
            return plan_view(view, *args, **named)

        monkeypatch.setattr(site, "plan_view", noted)
        (root / "pages/a.fxl").write_text("export default () => <p>a</p>;\n")
        done = project.swapper.swap(project.saved("pages/a.fxl"))

        assert (done.failed, planned) == ("", ["pages/a.fxl"])
        plans = project.app.site.plans
        assert [plan.view for plan in plans] == list(project.app.site.manifest.views)
        assert [plan.view.id for plan in plans] == [
            msgspec.json.decode(p.page)["id"] for p in plans
        ]


async def test_pages_of_a_new_site_that_nobody_requests_are_not_prepared(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared: list[str] = []

    def noted_frame(view: View, *args: Any, **named: Any) -> DocumentFrame:
        prepared.append(f"frame of {view.module}")
        return document_frame(view, *args, **named)

    def noted_target(of: site.Site, plan: ViewPlan, pattern: str) -> Target:
        prepared.append(f"target of {pattern}")
        return literal_target(of, plan, pattern)

    monkeypatch.setattr(site, "document_frame", noted_frame)
    monkeypatch.setattr(site_routes, "literal_target", noted_target)
    async with developed(root) as (project, client):
        (root / "pages/a.fxl").write_text("export default () => <p>a</p>;\n")
        project.swapper.swap(project.saved("pages/a.fxl"))
        assert prepared == []
        for _ in range(2):
            assert (await client.get("/other")).status_code == 200
        assert prepared == ["target of /other", "frame of pages/other.fxl"]


async def test_actions_of_modules_come_change_and_go(root: Path) -> None:
    file = "actions/stock.py"
    text = (
        "from fx.runtime import action\nfrom shop_swap.stock import count\n\n\n"
        "@action\nasync def read(request):\n    return {'rows': count(), 'title': 'one'}\n"
    )

    async def read(client: Any) -> Any:
        answer = await client.post("/api/__actions/stock.read", json={})
        return answer.json() if answer.status_code == 200 else answer.status_code

    async with developed(root) as (project, client):
        assert await read(client) == 404
        write_tree(root, {file: text})
        assert file in project.swapper.swap(project.saved(file)).sources
        assert await read(client) == {"ok": True, "rows": 3, "title": "one"}
        project.swapper.swap(project.edit(file, "'one'", "'two'"))
        assert (await read(client))["title"] == "two"
        done = project.swapper.swap(project.edit("shop_swap/units.py", "1", "10"))
        assert file in done.sources
        assert (await read(client))["rows"] == 30
        (root / file).unlink()
        project.swapper.swap(project.saved(file))
        assert await read(client) == 404


async def test_the_module_of_the_app_needs_a_new_process(root: Path) -> None:
    async with developed(root) as (project, _):
        project.swapper.app_module = "shop_swap.stock"
        done = project.swapper.swap(project.edit("shop_swap/units.py", "1", "2"))

    assert done.restart == "shop_swap.stock: the app is created there"


@pytest.mark.parametrize(
    ("files", "changed", "reason"),
    [
        (
            {
                "shop_swap/kinds.py": "class Kind:\n    pass\n",
                "pages/other.fxl": "from shop_swap.kinds import Kind\n"
                + OTHER.replace("append(1)", "append(Kind())"),
            },
            "shop_swap/kinds.py",
            "shop_swap.state: it keeps instances of Kind",
        ),
        (
            {
                "shop_swap/units.py": "from fx.jobs import job\n\nUNIT = 1\n\n\n@job()\n"
                "async def send(number: int) -> None:\n    pass\n"
            },
            "shop_swap/units.py",
            "units.py: durable jobs are declared there",
        ),
    ],
    ids=["instances", "jobs"],
)
async def test_what_others_still_have_needs_a_new_process(
    root: Path, files: dict[str, str], changed: str, reason: str
) -> None:
    write_tree(root, files)
    async with developed(root) as (project, client):
        await data(client, "/other")
        done = project.swapper.swap(project.saved(changed))

    assert done.restart == reason


JOB = "from fx.jobs import job\n\n\n@job()\nasync def send(number: int) -> None:\n    pass\n"


async def test_a_page_that_only_uses_a_job_is_swapped(root: Path) -> None:
    page = PAGE.replace("import count", "import count\nfrom shop_swap.mails import send", 1)
    mails = "from shop_swap.units import UNIT\n" + JOB
    write_tree(root, {"shop_swap/mails.py": mails, "pages/index.fxl": page})
    async with developed(root) as (project, client):
        await data(client, "/")
        done = project.swapper.swap(project.edit("pages/index.fxl", "'one'", "'two'"))

        assert (done.restart, done.sources) == ("", ("pages/index.fxl",))
        assert (await data(client, "/"))["title"] == "two"
        done = project.swapper.swap(project.edit("shop_swap/units.py", "1", "2"))
        assert done.restart == "mails.py: durable jobs are declared there"


async def test_a_module_that_does_not_parse_ends_no_process_that_works(root: Path) -> None:
    write_tree(root, {"shop_swap/units.py": JOB + "\n\nUNIT = 1\n"})
    async with developed(root) as (project, client):
        await data(client, "/")
        broken = project.swapper.swap(project.edit("shop_swap/units.py", "UNIT = 1", "UNIT = ="))

        assert (broken.restart, broken.error) == (
            "",
            "SyntaxError: invalid syntax (units.py, line 9)",
        )
        assert "shop_swap/units.py" in broken.failed
        assert "pages/index.fxl" in broken.sources
        assert (await data(client, "/"))["rows"] == 3
        mended = project.swapper.swap(project.edit("shop_swap/units.py", "UNIT = =", "UNIT = 2"))
        assert mended.restart == "units.py: durable jobs are declared there"
        assert "pages/index.fxl" in mended.sources  # a new process may fail to import it


async def test_the_first_job_of_a_project_needs_a_new_process(root: Path) -> None:
    write_tree(root, {"fx.config.json": '{"database": {"url": "sqlite:///app.db"}}'})
    async with developed(root) as (project, client):
        await data(client, "/")
        job = "UNIT = 1\nfrom fx.jobs import job\n\n@job()\nasync def send(number: int): pass\n"
        done = project.swapper.swap(project.edit("shop_swap/units.py", "UNIT = 1\n", job))

    assert done.restart == "the job shop_swap.units.send is new"


def test_files_come_after_those_that_they_use(tmp_path: Path) -> None:
    def module(name: str) -> ModuleType:
        created = ModuleType(name)
        created.__file__ = str(tmp_path / name)
        return created

    importers = Importers(tmp_path)
    used = {"d": ["b", "c"], "c": ["a"], "b": ["a"], "a": ["ring"], "ring": ["a"], "e": []}
    for user, names in used.items():
        importers.note(str(tmp_path / user), [module(name) for name in names])

    order = [Path(file).name for file in importers.dependents([str(tmp_path / "a")])]

    assert sorted(order) == ["a", "b", "c", "d", "ring"]
    assert order.index("a") < min(order.index("b"), order.index("c"))
    assert order[-1] == "d"


_BRINGS_BACK = """
import os
from pathlib import Path

FOLDER = Path(__file__).parent
KNOWN = FOLDER.stat()
(FOLDER / "units.py").write_text("UNIT = 2\\n")
os.utime(FOLDER, ns=(KNOWN.st_atime_ns, KNOWN.st_mtime_ns))
"""


async def test_a_module_that_is_back_in_the_same_moment_is_found(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # which changes the folder
    async with developed(root):
        names = ["shop_swap.stock", "shop_swap.units"]
        (root / "shop_swap/units.py").unlink()
        (root / "shop_swap/stock.py").write_text(_BRINGS_BACK)
        with reimported(names):
            assert sys.modules["shop_swap.units"].UNIT == 2
