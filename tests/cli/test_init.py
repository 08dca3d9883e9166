"""`fx init` writes a project, and never over anything."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fxtrio.cli import main
from fxtrio.cli.init import StarterClash, StarterUnwritable, starter, write_starter
from fxtrio.config import load_config
from fxtrio.routes.scan import scan

PLUGINS = ("-p", "pytest_trio.plugin", "-p", "fxtrio.simulation.pytest_plugin")


def fx(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def init(name: str, *options: str) -> Result:
    return fx("init", name, *options)


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_project_has_valid_settings_and_routes(working_folder: Path) -> None:
    result = init("shop")

    assert result.exit_code == 0, result.output
    assert "Created shop" in result.output
    root = working_folder / "shop"
    config = load_config(root, environ={})
    tree = scan(root, config)
    assert config.name == "shop"
    assert tree.problems == ()
    assert [page.pattern for page in tree.pages] == ["/", "/about"]
    assert (root / ".gitignore").read_text().splitlines()[0] == ".fx/"
    assert json.loads((root / "fx.config.json").read_text())["name"] == "shop"


def test_the_name_is_everywhere(working_folder: Path) -> None:
    init("my-shop")

    texts = [file.read_text() for file in (working_folder / "my-shop").rglob("*") if file.is_file()]
    assert not any("__NAME__" in text for text in texts)
    assert sum("my-shop" in text for text in texts) >= 4


def test_options_add_packages_and_files_to_what_all_projects_have(working_folder: Path) -> None:
    plain, both = working_folder / "plain", working_folder / "both"
    init("plain")
    done = init("both", "--tailwind", "--typescript")

    assert "npm install" in done.output
    package = json.loads((both / "package.json").read_text())
    assert [*package["dependencies"]] == ["@tailwindcss/postcss", "tailwindcss"]
    assert "typescript" in package["devDependencies"]
    assert not (plain / "package.json").exists()
    names = {path.relative_to(both).as_posix() for path in both.rglob("*") if path.is_file()}
    known = {path.relative_to(plain).as_posix() for path in plain.rglob("*") if path.is_file()}
    components = {"components/local-time", "components/welcome"}
    replaced = {"pages/parts.css", *(f"{path}.jsx" for path in components)}
    assert known - names == replaced
    assert names - known == {
        *(f"{path}.tsx" for path in components),
        *(".fx/types/client.d.ts", "files.d.ts", "package.json"),
        *("postcss.config.mjs", "tsconfig.json", "components.json", "vite.config.mjs"),
    }
    for name in ("README.md", "AGENTS.md"):
        text = (both / name).read_text()
        assert text.startswith((plain / name).read_text().replace("plain", "both"))
        assert "Tailwind" in text
        assert "npx tsc" in text


def test_other_tools_find_the_alias_and_the_stylesheet(working_folder: Path) -> None:
    init("plain", "--tailwind")
    init("typed", "--tailwind", "--typescript")

    for name, settings, typed in (
        ("plain", "jsconfig.json", False),
        ("typed", "tsconfig.json", True),
    ):
        folder = working_folder / name
        shadcn = json.loads((folder / "components.json").read_text())
        assert shadcn["tsx"] is typed
        assert (folder / shadcn["tailwind"]["css"]).is_file()
        paths = json.loads((folder / settings).read_text())["compilerOptions"]["paths"]
        assert paths["@/*"] == ["./*"]
        assert "/^@\\//" in (folder / "vite.config.mjs").read_text()
    assert not (working_folder / "typed/jsconfig.json").exists()


def test_pages_with_tailwind_have_its_classes_and_no_others(working_folder: Path) -> None:
    init("plain", "--accounts")
    init("shop", "--accounts", "--tailwind")

    assert '@import "tailwindcss";' in (working_folder / "shop/pages/styles.css").read_text()
    ours = re.compile(r"className=\"((?!block\")\w+)\"")
    for page in ("pages/layout.fxl", "pages/login.fxl", "components/account.jsx"):
        assert ours.search((working_folder / "plain" / page).read_text())
        assert not ours.search((working_folder / "shop" / page).read_text())
    pages = [page for page in (working_folder / "shop").rglob("*.[fj][xs][lx]") if page.is_file()]
    assert len(pages) > 6
    assert not [page for page in pages if "parts.css" in page.read_text()]


def test_the_starter_lists_the_commands_for_agents(working_folder: Path) -> None:
    init("shop")

    root = working_folder / "shop"
    commands = main.list_commands(main.make_context("fx", [], resilient_parsing=True))
    agents = (root / "AGENTS.md").read_text()
    named = set(re.findall(r"`fx (\w+)`", agents))
    assert {"check", "build", "dev", "routes"} <= named <= set(commands)
    docs = "https://github.com/fxtrio/fxtrio/tree/main/docs"
    for name in ("AGENTS.md", "README.md", "pages/layout.fxl"):
        assert docs in (root / name).read_text()


def test_the_notes_of_a_project_with_a_database_go_by_deleting_the_files_that_it_names(
    working_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    init("shop", "--database")
    monkeypatch.chdir(project := working_folder / "shop")
    assert fx("db", "up").exit_code == 0
    [sentence] = [
        line for line in Path("README.md").read_text().splitlines() if "without the" in line
    ]
    for name in re.findall(r"`([^`]+)`", sentence):
        Path(name).unlink()

    assert fx("db", "new", "books").exit_code == 0
    assert [path.name for path in Path("migrations").iterdir()] == ["0001_books.sql"]
    Path("migrations/0001_books.sql").write_text("create table books (id integer primary key);")
    assert fx("db", "up").exit_code == 0
    code = [path for path in project.rglob("*") if path.suffix in (".py", ".fxl", ".sql", ".jsx")]
    assert not [path for path in code if "notes" in path.read_text("utf-8")]


@pytest.mark.parametrize("options", [(), ("--database",)])
def test_the_tests_of_a_new_project_pass(working_folder: Path, options: tuple[str, ...]) -> None:
    init("shop", *options)

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *PLUGINS],
        cwd=working_folder / "shop",
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert "3 passed" in done.stdout, done.stdout


def test_the_next_steps_are_printed() -> None:
    lines = [line.strip() for line in init("shop").output.splitlines()]

    assert "cd shop" in lines
    assert any(line.startswith("fx dev") for line in lines)


@pytest.mark.parametrize(
    "name", ["", "1shop", "../1shop", "a/b!", "shop!", "-x-", "x" * 65, "über", "/"]
)
def test_other_names_are_rejected_and_nothing_is_written(working_folder: Path, name: str) -> None:
    result = CliRunner().invoke(main, ["init", "--", name])

    assert result.exit_code == 2
    assert "is no project name" in result.output
    assert list(working_folder.iterdir()) == []


@pytest.mark.parametrize("path", ["sites/shop", "sites/new/shop/", "../elsewhere/shop"])
def test_a_path_gives_the_folder_and_its_last_part_the_name(
    working_folder: Path, path: str
) -> None:
    result = init(path)

    assert result.exit_code == 0, result.output
    root = (working_folder / path).resolve()
    assert load_config(root, environ={}).name == "shop"
    assert "Created shop" in result.output
    assert f"cd {path.rstrip('/')}" in [line.strip() for line in result.output.splitlines()]


def test_the_step_into_a_folder_is_quoted_for_the_shell(working_folder: Path) -> None:
    assert "cd 'my sites/shop'" in init("my sites/shop").output
    assert f"cd {working_folder.name}" not in init("./other").output


def test_a_dot_makes_a_project_of_the_current_folder(
    working_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = working_folder / "corner"
    (here / ".git").mkdir(parents=True)
    monkeypatch.chdir(here)

    result = init(".")

    assert result.exit_code == 0
    assert "cd " not in result.output
    assert load_config(here, environ={}).name == "corner"


def test_files_that_exist_are_named_and_left_alone(working_folder: Path) -> None:
    root = working_folder / "shop"
    (root / "pages").mkdir(parents=True)
    (root / "pages/index.fxl").write_text("mine")
    (root / "app.py").write_text("mine")

    result = init("shop")

    assert result.exit_code == 1
    assert "error shop: app.py, pages/index.fxl exist already." in result.stderr
    assert sorted(file.name for file in root.rglob("*") if file.is_file()) == [
        "app.py",
        "index.fxl",
    ]
    assert (root / "pages/index.fxl").read_text() == "mine"


@pytest.mark.parametrize("name", ["pages", "app.py", "public", "fx.config.json"])
@pytest.mark.parametrize("dangling", [False, True])
def test_nothing_is_written_through_a_link(tmp_path: Path, name: str, dangling: bool) -> None:
    folder, elsewhere = tmp_path / "shop", tmp_path / "elsewhere"
    content = starter("shop")
    path = next((path for path in content if path.split("/")[0] == name), "")
    if not path:
        name = path = sorted(content)[0].split("/")[0]
    folder.mkdir()
    if not dangling:
        elsewhere.mkdir()
    (folder / name).symlink_to(elsewhere)

    with pytest.raises(StarterClash, match=f"{name} exist already"):
        write_starter(folder, content)

    assert [entry.name for entry in folder.iterdir()] == [name]
    assert not elsewhere.exists() if dangling else list(elsewhere.iterdir()) == []


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "pages").write_text("")
    with pytest.raises(StarterClash, match="pages exist already"):
        write_starter(tmp_path, starter("shop"))


def test_what_was_written_goes_when_the_rest_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = starter("shop")
    last = list(content)[-1]
    original = Path.open

    def full(self: Path, *args: Any, **kwargs: Any) -> Any:
        if self == tmp_path / last:
            raise OSError(28, "No space left on device")
        return original(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(StarterUnwritable, match="No space left on device"):
        write_starter(tmp_path, content)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
