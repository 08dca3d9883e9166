"""Building: what is written, that failures change nothing, and where tracebacks point."""

from __future__ import annotations

import linecache
import traceback
from pathlib import Path
from typing import Any, NoReturn

import attrs
import pytest
import trio
from msgspec.structs import replace

from fxtrio.compile import build
from fxtrio.compile.build import build_project, compile_server
from fxtrio.compile.bundling.bundle import BundlePlan, BundleResult, FileAssets
from fxtrio.compile.bundling.bundle_errors import BundleFailed, BundleProblem, BundlerCrashed
from fxtrio.compile.bundling.installation import LISTING
from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.check.ui_code import UiProblems
from fxtrio.compile.problems import CompileFailed, Problem
from fxtrio.config import Config
from fxtrio.imports import Imports
from fxtrio.manifest import FOLDERS, Manifest, Mode, load_manifest
from fxtrio.node import NodeMissing

PAGE = '''"""A page whose loader fails in line 10."""
import { x } from './x'

export default function Page() { return <p>{x}</p> }

@server
async def load(request):
    """Fail."""
    numbers = [1, 2]
    return {"third": numbers[2]}

Page.displayName = 'Page'
'''
FILES = {
    "index.fxl": PAGE,
    "about.fxl": "export default () => <p>About</p>\n",
    "layout.fxl": "import { Suspense } from 'react'\nexport default (p) => p.children\n",
    "api/ping.py": "def get(request):\n    return {}\n",
    "index.md": "# Home\n",
    "llms.py": "def llms_txt(ctx):\n    return None\n",
    "not-found.fxl": "export default () => null\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, FILES)
    return tmp_path


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[BundlePlan]:
    """Let a bundler that writes one file take the place of Vite; gives the plans it got."""
    seen: list[BundlePlan] = []

    async def bundle(plan: BundlePlan, *, toolchain: Path, early: None) -> BundleResult:
        seen.append(plan)
        for folder in ("client", "ssr"):
            (plan.staging / folder).mkdir()
        (plan.staging / "ssr/server.mjs").write_text("")
        (plan.staging / "client/entry.js").write_text(f"build {len(seen)}")
        return BundleResult(
            build_id=f"id-{len(seen)}",
            server="server.mjs",
            entry=FileAssets(module="/_fx/entry.js", css=("/_fx/entry.css",)),
            files={},
            clients=tuple({"source": view.module} for view in plan.views),
        )

    async def ensure_toolchain(report: object) -> Path:
        return Path("/toolchain")

    async def ui_problems(root: Path, project: object, toolchain: Path) -> UiProblems:
        return UiProblems()

    monkeypatch.setattr(build, "bundle", bundle)
    monkeypatch.setattr(build, "ui_problems", ui_problems)
    monkeypatch.setattr(build, "ensure_toolchain", ensure_toolchain)
    return seen


def short(source: str) -> str:
    return source.removeprefix("pages/").removesuffix(".fxl")


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def make(root: Path, **settings: Any) -> Manifest:
    config = Config(**settings)
    built = await build_project(root, config, mode="production", report=lambda line: None)
    assert built.folder == root / FOLDERS["production"]
    return built.manifest


async def test_a_build_folder_holds_both_halves_the_bundles_and_the_manifest(
    root: Path, plans: list[BundlePlan]
) -> None:
    manifest = await make(root, base_url="/app")
    folder = root / ".fx/build"
    assert load_manifest(folder) == manifest
    assert manifest.build_id == "id-1"
    assert {route.pattern: manifest.views[route.view].module for route in manifest.routes} == {
        "/": "pages/index.fxl",
        "/about": "pages/about.fxl",
    }
    assert [api.pattern for api in manifest.api] == ["/api/ping"]
    assert manifest.markdown == {"pages/index.fxl": "pages/index.md"}
    assert manifest.llms == {"pages": "pages/llms.py"}
    assert (manifest.assets.entry, manifest.assets.base) == ("/_fx/entry.js", "/app/_fx/")
    assert manifest.views[0].client == {"source": manifest.views[0].module}
    assert manifest.views[0].streams
    ui = (folder / "ui/pages/index.fxl.tsx").read_text()
    python = (folder / "server/pages/index.fxl.py").read_text()
    assert ui.split("\n")[3] == PAGE.split("\n")[3]
    assert python.split("\n")[9] == PAGE.split("\n")[9]
    assert "numbers" not in ui and "displayName" not in python
    assert not (folder / "server/pages/about.fxl.py").exists()
    assert names_in(root / ".fx") == ["build"]


async def test_the_bundler_gets_the_views_and_a_seed_that_follows_the_python(
    root: Path, plans: list[BundlePlan]
) -> None:
    await make(root)
    await make(root)
    write(root, {"index.fxl": PAGE.replace("[1, 2]", "[1, 3]")})
    await make(root)
    first, second, third = plans
    assert first.seed == second.seed != third.seed
    assert [short(source) for source in first.modules] == [
        "about",
        "index",
        "layout",
        "not-found",
    ]
    assert [(view.kind, view.module) for view in first.views] == [
        ("page", "pages/index.fxl"),
        ("not-found", "pages/not-found.fxl"),
        ("page", "pages/about.fxl"),
    ]
    assert first.views[0].layouts == (("pages/layout.fxl", False),)


async def test_pages_with_problems_leave_the_build_before_as_it_was(
    root: Path, plans: list[BundlePlan]
) -> None:
    await make(root)
    write(root, {"about.fxl": "def f(:\n", "index.fxl": "x = y\nexport default 1\n"})
    with pytest.raises(CompileFailed) as caught:
        await make(root)
    assert len(caught.value.problems) == 2
    assert "pages/index.fxl:1:5: undefined name 'y'" in str(caught.value)
    assert load_manifest(root / ".fx/build").build_id == "id-1"
    assert names_in(root / ".fx") == ["build"]


async def test_a_build_that_fails_lists_the_mistakes_of_both_halves(
    root: Path, plans: list[BundlePlan], monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake = Problem("pages/about.fxl", 4, 1, "this page has no action 'oder'", "Define it")
    kind = FindingKind.SETTINGS
    beside = Problem(str(root / "app.py"), 1, 1, "asyncio", "Write trio", kind=kind)

    async def ui_problems(root: Path, project: object, toolchain: Path) -> UiProblems:
        return UiProblems(certain=(mistake,))

    async def look(project: object) -> list[Problem]:
        return [beside]

    (root / LISTING).write_text("{}")
    monkeypatch.setattr(build, "toolchain_folder", lambda: root)
    monkeypatch.setattr(build, "ui_problems", ui_problems)
    write(root, {"index.fxl": "x = y\nexport default 1\n"})
    with pytest.raises(CompileFailed) as caught:
        await build_project(root, Config(), mode="production", report=lambda line: None, look=look)

    files = [Path(str(one).partition(":")[0]).name for one in caught.value.problems]
    assert files == ["app.py", "about.fxl", "index.fxl"]


@pytest.mark.parametrize(
    ("listing", "error"),
    [
        ('{"node_modules/vite/package.json": 1}', None),
        ("{}", BundlerCrashed(1, "Error: Cannot find module 'vite'")),
        ("{}", NodeMissing("20.19")),
        ("{}", PermissionError("node")),
    ],
)
async def test_a_build_that_fails_says_why_where_client_code_cannot_be_checked(
    root: Path, monkeypatch: pytest.MonkeyPatch, listing: str, error: Exception | None
) -> None:
    async def ui_problems(root: Path, project: object, toolchain: Path) -> NoReturn:
        assert error is not None
        raise error

    (root / LISTING).write_text(listing)
    monkeypatch.setattr(build, "toolchain_folder", lambda: root)
    monkeypatch.setattr(build, "ui_problems", ui_problems)
    write(root, {"index.fxl": "x = y\nexport default 1\n"})
    with pytest.raises(CompileFailed, match="undefined name 'y'"):
        await build_project(root, Config(), mode="production", report=lambda line: None)


async def test_a_bundler_that_fails_leaves_the_build_before_as_it_was(
    root: Path, plans: list[BundlePlan], monkeypatch: pytest.MonkeyPatch
) -> None:
    await make(root)

    async def bundle(plan: BundlePlan, *, toolchain: Path, early: None) -> NoReturn:
        raise BundlerCrashed(1, "no bundle")

    monkeypatch.setattr(build, "bundle", bundle)
    with pytest.raises(BundlerCrashed, match="no bundle"):
        await make(root)
    assert load_manifest(root / ".fx/build").build_id == "id-1"
    assert names_in(root / ".fx") == ["build"]


async def test_a_cancelled_build_leaves_nothing_behind(
    root: Path, plans: list[BundlePlan], monkeypatch: pytest.MonkeyPatch
) -> None:
    await make(root)
    started = trio.Event()

    async def bundle(plan: BundlePlan, *, toolchain: Path, early: None) -> NoReturn:
        started.set()
        await trio.sleep_forever()
        raise AssertionError

    monkeypatch.setattr(build, "bundle", bundle)
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(make, root)
            await started.wait()
            nursery.cancel_scope.cancel()
    assert load_manifest(root / ".fx/build").build_id == "id-1"
    assert names_in(root / ".fx") == ["build"]


@pytest.mark.parametrize("mode", ["production", "development"])
async def test_a_traceback_of_a_loader_points_at_the_line_of_the_page_file(
    root: Path, mode: Any
) -> None:
    folder = root / ".fx" / mode
    manifest = compile_server(root, Config(), folder, mode=mode)
    code = Imports(root, folder).pages(manifest, Config())["pages/index.fxl"]
    assert code.loader is not None
    linecache.clearcache()
    with pytest.raises(IndexError) as caught:
        await code.loader.function(None)
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert frame.filename == str(root / "pages/index.fxl")
    assert (frame.lineno, frame.name) == (10, "load")
    assert frame.line == 'return {"third": numbers[2]}'


def test_equal_sources_have_equal_build_ids(root: Path) -> None:
    ids = [compile_server(root, Config(), root / name, mode="production").build_id for name in "ab"]
    assert ids[0] == ids[1]
    write(root, {"about.fxl": "export default () => <p>Changed</p>\n"})
    assert compile_server(root, Config(), root / "c", mode="production").build_id != ids[0]


def test_a_page_may_define_a_name_that_would_be_injected(root: Path) -> None:
    page = "class LoaderError(Exception): pass\n@server\nasync def load(request):\n    return {}\n"
    write(root, {"index.fxl": page + "export default () => null\n"})
    manifest = compile_server(root, Config(), root / "out", mode="production")
    module = manifest.modules["pages/index.fxl"]
    assert module == replace(module, loader="load", inject=("server", "LoaderError"))
    code = Imports(root, root / "out").pages(manifest, Config())["pages/index.fxl"]
    assert code.loader is not None
    assert code.loader.function.__globals__["LoaderError"].__module__ != "fxtrio.errors"


@pytest.mark.parametrize(("mode", "fails"), [("production", True), ("development", False)])
async def test_a_client_half_that_cannot_work_fails_only_a_build_for_production(
    root: Path, plans: list[BundlePlan], monkeypatch: pytest.MonkeyPatch, mode: Mode, fails: bool
) -> None:
    mistake = Problem("pages/index.fxl", 4, 1, "this page has no action 'oder'", "Define it")
    doubt = Problem("pages/index.fxl", 2, 1, "undefined name 'x' in client code", "Define it")

    async def ui_problems(root: Path, project: object, toolchain: Path) -> UiProblems:
        return UiProblems(certain=(mistake,), likely=(doubt,))

    monkeypatch.setattr(build, "ui_problems", ui_problems)
    monkeypatch.chdir(root)
    if fails:
        with pytest.raises(CompileFailed, match="no action 'oder'"):
            await build_project(root, Config(), mode=mode, report=lambda line: None)
        assert not (root / FOLDERS[mode]).exists()
    else:
        built = await build_project(root, Config(), mode=mode, report=lambda line: None)
        assert built.warnings == (doubt, mistake)


async def test_what_bundler_and_checks_find_is_reported_together_each_line_once(
    root: Path, plans: list[BundlePlan], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def bundle(plan: BundlePlan, *, toolchain: Path, early: None) -> NoReturn:
        raise BundleFailed((BundleProblem("pages/index.fxl", 2, 9, "it lacks 'x'. Write it."),))

    async def ui_problems(*order: object) -> UiProblems:
        found = Problem("pages/index.fxl", 2, 10, "'./x' lacks 'x'", "Write it")
        return UiProblems(certain=(found, attrs.evolve(found, path="pages/about.fxl")))

    monkeypatch.setattr(build, "bundle", bundle)
    monkeypatch.setattr(build, "ui_problems", ui_problems)
    monkeypatch.chdir(root)

    with pytest.raises(BundleFailed) as failed:
        await build_project(root, Config(), mode="production", report=lambda line: None)

    assert [str(problem) for problem in failed.value.problems] == [
        "pages/about.fxl:2:10: './x' lacks 'x'. Write it.",
        "pages/index.fxl:2:9: it lacks 'x'. Write it.",
    ]
