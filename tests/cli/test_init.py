"""`fx init` writes a project, and never over anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fxtrio.cli import main
from fxtrio.config import load_config
from fxtrio.routes import scan


def init(name: str) -> Result:
    return CliRunner().invoke(main, ["init", name])


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


def test_the_name_stands_everywhere(working_folder: Path) -> None:
    init("my-shop")

    texts = [file.read_text() for file in (working_folder / "my-shop").rglob("*") if file.is_file()]
    assert not any("__NAME__" in text for text in texts)
    assert sum("my-shop" in text for text in texts) >= 4


def test_the_next_steps_are_printed() -> None:
    lines = [line.strip() for line in init("shop").output.splitlines()]

    assert "cd shop" in lines
    assert any(line.startswith("fx dev") for line in lines)


@pytest.mark.parametrize("name", ["", "1shop", "../shop", "a/b", "shop!", "-x-", "x" * 65, "über"])
def test_other_names_are_refused_and_nothing_is_written(working_folder: Path, name: str) -> None:
    result = CliRunner().invoke(main, ["init", "--", name])

    assert result.exit_code == 2
    assert "is no project name" in result.output
    assert list(working_folder.iterdir()) == []


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
