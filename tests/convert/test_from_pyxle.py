"""`fx from-pyxle` makes a project of Pyxle one that builds and serves, and names what is left."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser

from fxtrio.cli.group import main
from tests.convert.pyxle_app import FILES
from tests.convert.support import committed, git, report_of, tree_of
from tests.e2e.support import fx, served, visit

pytestmark = pytest.mark.node

LEFT = [
    ("mails.py", 2, "'pyxle_mail' is not a module of this framework"),
    ("pyxle.config.json", 4, "the setting 'styling' no longer exists"),
    ("pyxle.config.json", 9, "the setting 'plugins.1' no longer exists"),
]


def left(found: dict[str, object], root: Path) -> list[tuple[str, int, str]]:
    problems = found["problems"]
    assert isinstance(problems, list)
    return [
        (Path(one["path"]).relative_to(root).as_posix(), one["line"], one["message"])
        for one in problems
    ]


def test_it_only_shows_what_it_would_do(tmp_path: Path) -> None:
    root = committed(tmp_path.resolve(), FILES)
    before = tree_of(root)
    found = report_of("from-pyxle", root)
    assert tree_of(root) == before
    assert git(root, "status", "--porcelain") == ""
    assert not found["written"]
    assert left(found, root) == LEFT
    assert found["removed"] == {"vite.config.js": "fxtrio sets up the bundler itself"}
    done = {one["path"]: one["done"] for one in found["files"]}
    assert "migrations/0001_first_notes.sql" in done
    assert done["store.py"] == [
        "asyncio.Lock → trio.Lock",
        "asyncio.sleep → trio.sleep",
        "asyncio.to_thread → trio.to_thread.run_sync",
    ]


@pytest.mark.browser
def test_what_it_writes_builds_and_serves(browser: Browser, tmp_path: Path) -> None:
    files = {path: text for path, text in FILES.items() if path != "mails.py"}
    root = committed(tmp_path.resolve() / "board", files)
    assert report_of("from-pyxle", root, "--write")["written"]
    assert not [*root.rglob("*.pyxl"), *root.rglob("*.fx-part*")]
    assert json.loads((root / "fx.config.json").read_text("utf-8")) == {
        "name": "board",
        "cacheControl": {"/about": "public, s-maxage=1800, stale-while-revalidate=1800"},
        "rateLimits": [{"route": "/*", "limit": "600 per 60 seconds"}],
        "observability": {"enabled": True, "accessLog": "json"},
        "llms": {"autoConvert": False, "enabled": True},
        "database": {"url": "sqlite:///data/board.db", "migrate": "run"},
    }
    assert (root / "requirements.txt").read_text("utf-8") == "fxtrio[pydantic]\nhttpx\n"
    assert (root / ".env").read_text("utf-8") == (
        "FX_PUBLIC_TITLE=Board\nexport FX_SECRET_KEY=0123456789abcdefgh\nPYXLE_X=1\n"
    )
    assert (root / "public/robots.txt").exists()
    fx("check", cwd=root)
    fx("build", cwd=root)
    with served(root) as server:
        visitor = visit(browser)
        page = visitor.page
        page.goto(f"{server.url}/")
        assert page.title() == "Board"
        assert page.text_content("h1") == "HELLO: Grüße 🎈 🎈"
        page.get_by_role("button", name="Clicked 0").click()
        page.get_by_role("button", name="Clicked 1").wait_for()
        page.get_by_role("button", name="Rename").click()
        page.get_by_role("link", name="About").click()
        page.wait_for_url("**/about")
        assert page.text_content("p") == "from pyxle.runtime import server"
        assert page.request.get(f"{server.url}/api/pulse").json()["ok"]
        assert visitor.complaints == []


def error_of(root: Path, *options: str) -> str:
    before = tree_of(root)
    result = CliRunner().invoke(main, ["from-pyxle", "--write", "--root", str(root), *options])
    assert result.exit_code == 1
    assert tree_of(root) == before
    return " ".join(result.stderr.split())


def test_tailwind_comes_by_postcss(tmp_path: Path) -> None:
    package = '{"devDependencies": {"@tailwindcss/vite": "^4.1.0", "tailwindcss": "^4.1.0"}}'
    root = committed(tmp_path.resolve(), {**SMALL, "package.json": package})
    report_of("from-pyxle", root, "--write")
    assert '"@tailwindcss/postcss": "^4.1.0"' in (root / "package.json").read_text("utf-8")
    assert "@tailwindcss/postcss" in (root / "postcss.config.mjs").read_text("utf-8")


SMALL = {"pages/index.pyxl": FILES["pages/about.pyxl"]}


def test_it_writes_nothing_that_git_could_not_undo(tmp_path: Path) -> None:
    root = committed(tmp_path.resolve(), SMALL)
    (root / "pages/index.pyxl").write_text("changed", "utf-8")
    assert "'pages/index.pyxl' would be changed and is not committed" in error_of(root)


def test_it_writes_outside_of_git_only_with_an_option(tmp_path: Path) -> None:
    root = committed(tmp_path.resolve(), SMALL)
    (root / ".git").rename(root.parent / f"{root.name}-git")
    assert "this is not a Git repository, so it could not be undone" in error_of(root)
    assert report_of("from-pyxle", root, "--write", "--force")["written"]
    assert (root / "pages/index.fxl").exists()


def test_variables_may_be_ignored_by_git(tmp_path: Path) -> None:
    ignored = {".gitignore": ".env*\n.pyxle-build/\n", ".env": "PYXLE_PUBLIC_A=1\n"}
    root = committed(tmp_path.resolve(), {**SMALL, **ignored})
    assert report_of("from-pyxle", root, "--write")["written"]
    assert (root / ".env").read_text("utf-8") == "FX_PUBLIC_A=1\n"
    assert (root / ".gitignore").read_text("utf-8") == ".env*\n.pyxle-build/\n.fx/\n"


def test_it_overwrites_nothing(tmp_path: Path) -> None:
    root = committed(tmp_path.resolve(), {**SMALL, "pages/index.fxl": "x"})
    assert "'pages/index.fxl' would be overwritten" in error_of(root, "--force")


def test_another_project_is_named_as_such(tmp_path: Path) -> None:
    assert "this is not a project of Pyxle" in error_of(tmp_path.resolve())


def test_a_write_that_fails_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = committed(tmp_path.resolve(), {**SMALL, "pages/other.pyxl": SMALL["pages/index.pyxl"]})
    replace = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if Path(target).name == "other.fxl":
            raise PermissionError(13, "Permission denied", str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    assert "Permission denied. Nothing was written." in error_of(root)


@pytest.mark.parametrize("moved", [False, True], ids=["before", "after"])
def test_an_interrupt_leaves_nothing_half_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moved: bool
) -> None:
    root = committed(tmp_path.resolve(), SMALL)
    before = tree_of(root)
    replace = Path.replace
    calls = count()

    def interrupted(self: Path, target: Path) -> Path:
        if next(calls) != at:
            return replace(self, target)
        if moved:
            replace(self, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    for at in range(2):  # one file goes, and one comes
        calls = count()
        CliRunner().invoke(main, ["from-pyxle", "--write", "--root", str(root)])
        assert next(calls) > at  # it came so far
        assert tree_of(root) == before


def test_what_has_another_effect_is_listed_where_it_will_be(tmp_path: Path) -> None:
    page = """
        from pyxle.runtime import server, plugin

        import { useAuth } from 'pyxle/client';

        export default function Page() {
          const { signup } = useAuth();
          return <button onClick={() => signup({})}>Go</button>;
        }
    """
    root = committed(tmp_path.resolve(), {"pages/index.pyxl": page})
    found = left(report_of("from-pyxle", root), root)
    assert (
        "pages/index.fxl",
        7,
        "'signup' creates the account, and does not sign the user in",
    ) in found
