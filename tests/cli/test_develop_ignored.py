"""Files whose changes `fx dev` does not act on."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from watchfiles import Change

from fxtrio.config import load_config
from fxtrio.config.errors import ConfigInvalid
from fxtrio.develop.reload.file_snapshot import SeenFiles
from fxtrio.develop.reload.ignored import Ignored
from tests.trees import write_tree


def passing(root: Path, *files: str) -> list[str]:
    ignored = Ignored(root)
    return [file for file in files if ignored.lets_pass(Change.modified, str(root / file))]


@pytest.mark.parametrize(
    "file",
    [
        ".fx/dev/manifest.json",
        "node_modules/x/i.js",
        "lib/node_modules/x/i.js",
        "__pycache__/store.cpython-311.pyc",
        "store.pyc",
        ".venv/lib/x.py",
        ".git/HEAD",
        ".pytest_cache/x",
        ".mypy_cache/x.json",
        ".ruff_cache/x",
        "coverage/index.html",
        "dist/x.js",
        "tests/test_pages.py",
        "data/uploads/a.png",
        "data/site.json",
        "notes.sqlite3",
        "notes.sqlite3-wal",
        "server.log",
        "pages/.#index.fxl",
        "pages/#index.fxl#",
        "pages/index.fxl~",
        "pages/.index.fxl.swp",
        "pages/4913",
        "pages/index.fxl___jb_tmp___",
        "pages/sedAb12Cd",
        "pages/index.fxl.tmp",
        "pytest-cache-files-x1y2z3/README.md",
        "coverage.xml",
        ".coverage.host.1.x",
        "shop.egg-info/PKG-INFO",
        "node_modules/.bin/x",
        "node_modules/x/node_modules/.package-lock.json",
        "notes.sqlite3-journal",
        "run.prof",
    ],
)
def test_files_that_are_no_source_are_ignored(file: str, tmp_path: Path) -> None:
    assert passing(tmp_path, file) == []


@pytest.mark.parametrize(
    "file",
    [
        "pages/index.fxl",
        "pages/tests/index.fxl",
        "pages/data/index.fxl",
        "pages/coverage/index.fxl",
        "pages/sedation.fxl",
        "sedate.py",
        "data/models.py",
        "public/.well-known/security.txt",
        "store.py",
        "fx.config.json",
        ".env",
        ".env.local",
        "package.json",
        "node_modules/.package-lock.json",
        "node_modules/.modules.yaml",
    ],
)
def test_sources_are_not_ignored(file: str, tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": ".env*\n"})
    assert passing(tmp_path, file) == [file]


@pytest.mark.parametrize(
    "folder", ["node_modules", "a/node_modules", "pytest-cache-files-x1y2z3", "dist", "made"]
)
def test_what_comes_with_a_folder_that_does_not_matter_is_not_looked_at(
    folder: str, tmp_path: Path
) -> None:
    write_tree(tmp_path, {".gitignore": "made/\n", f"{folder}/x.js": ""})

    assert not Ignored(tmp_path).lets_pass(Change.added, str(tmp_path / folder))


def test_virtual_environments_are_not_watched(tmp_path: Path) -> None:
    files = {"env/pyvenv.cfg": "", "env/lib/x.py": "", "env/lib/.gitignore": "/pages\n"}
    write_tree(tmp_path, {"pyvenv.cfg": "", "pages/a.fxl": "", "x.py": "", **files})

    assert passing(tmp_path, "pages/a.fxl", "x.py", *files) == ["pages/a.fxl", "x.py"]
    assert not Ignored(tmp_path).lets_pass(Change.added, str(tmp_path / "env"))
    seen = SeenFiles(tmp_path)
    (tmp_path / "env/lib/y.py").write_text("")
    (tmp_path / "y.py").write_text("")
    assert seen.looked_at_again() == [(Change.added, str(tmp_path / "y.py"))]


def test_what_fx_dev_itself_writes_is_no_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`fx dev > pages/told.md 2> errors.json`, as far as `Ignored` sees it."""
    write_tree(tmp_path, {"pages/told.md": "", "errors.json": "", "other.json": ""})
    outputs = {1: tmp_path / "pages/told.md", 2: tmp_path / "errors.json"}
    fstat = os.fstat
    monkeypatch.setattr(os, "fstat", lambda one: fstat(one) if one > 2 else outputs[one].stat())

    assert passing(tmp_path, "pages/told.md", "errors.json", "other.json") == ["other.json"]


@pytest.mark.parametrize("folder", ["components", "a/b", "pages/shop"])
def test_a_folder_may_come_with_files_that_are_not_reported(folder: str, tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{folder}/x.js": ""})

    assert Ignored(tmp_path).lets_pass(Change.added, str(tmp_path / folder))


def test_a_build_that_somebody_has_removed_is_reported(tmp_path: Path) -> None:
    build, half = tmp_path / ".fx/dev/manifest.json", tmp_path / ".fx/dev/ui/index.fxl.tsx"
    ignored = Ignored(tmp_path)

    assert ignored.lets_pass(Change.deleted, str(build))
    assert not ignored.lets_pass(Change.deleted, str(half))
    write_tree(tmp_path, {".fx/dev/manifest.json": "{}"})
    assert not ignored.lets_pass(Change.added, str(build))


def test_lines_that_are_no_patterns_are_passed_over(tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": "!\nmade/\n[z-a]\nhalf\\\n", "fx.config.json": "{"})

    assert passing(tmp_path, "made/x.js", "pages/z.fxl") == ["pages/z.fxl"]


def test_what_git_ignores_is_ignored(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            ".git/HEAD": "",
            ".gitignore": "*.out\n/site/uploads\n",
            "site/.gitignore": "made/\n!keep.out\n",
            "site/pages/.gitignore": "/draft.fxl\n",
        },
    )
    files = ("a.out", "keep.out", "uploads/x", "made/x.css", "pages/draft.fxl")
    more = ("pages/a/draft.fxl", "pages/index.fxl")
    assert passing(tmp_path / "site", *files, *more) == ["keep.out", *more]


def test_the_patterns_of_folders_beyond_the_repository_do_not_count(tmp_path: Path) -> None:
    write_tree(tmp_path, {".gitignore": "*.py\n", "site/.git/HEAD": ""})
    assert passing(tmp_path / "site", "store.py") == ["store.py"]


def test_a_project_in_a_folder_that_git_ignores_has_its_own_patterns_only(tmp_path: Path) -> None:
    root = tmp_path / "playground/app"
    write_tree(
        tmp_path,
        {
            ".git/HEAD": "",
            ".gitignore": "playground/\n*.md\n",
            "playground/app/.gitignore": "drafts/\n",
        },
    )
    files = ("pages/index.fxl", "notes.md", "drafts/new.fxl")
    assert passing(root, *files) == ["pages/index.fxl", "notes.md"]


def test_the_setting_has_the_last_word(tmp_path: Path) -> None:
    settings = {"dev": {"ignore": ["/made/", "!/data/cities.json"]}}
    write_tree(tmp_path, {"fx.config.json": json.dumps(settings)})
    assert passing(tmp_path, "made/x", "data/cities.json", "data/x") == ["data/cities.json"]


def test_patterns_are_read_again_when_they_change(tmp_path: Path) -> None:
    ignored = Ignored(tmp_path)
    created, git, config = (
        str(tmp_path / name) for name in ("made/x", ".gitignore", "fx.config.json")
    )
    assert ignored.lets_pass(Change.added, created)
    Path(git).write_text("made/\n")
    assert not ignored.lets_pass(Change.added, git)
    assert not ignored.lets_pass(Change.added, created)
    Path(config).write_text('{"dev": {"ignore": ["!made/"]}}')
    assert ignored.lets_pass(Change.added, config)
    assert ignored.lets_pass(Change.added, created)


@pytest.mark.parametrize("pattern", ["!", "[z-a]"])
def test_a_pattern_that_is_none_is_rejected(pattern: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match=r"must contain patterns as in \.gitignore, not "):
        load_config(tmp_path, dev={"ignore": [pattern]})
