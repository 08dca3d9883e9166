"""What `fx dev` keeps of page files for the next time that it starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fxtrio.compile import file_checks
from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import SourceText
from fxtrio.config import Config
from fxtrio.develop.build import page_cache
from fxtrio.develop.build.page_cache import PageFiles
from tests.trees import write_tree

PAGE = """@server
async def load(request):
    return {"n": 1}


HEAD = "<title>One</title>"

export default ({ data }) => <h1>%s {data.n}</h1>;
"""
PAGES = {
    "pages/index.fxl": PAGE % "index",
    "pages/other.fxl": PAGE % "other",
    "pages/wrong.fxl": "VALUE = missing\n\nexport default () => <h1>wrong</h1>;\n",
    "pages/words.md": "# Words\n",
}


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the sources of the pages that are checked from now on."""
    found: list[str] = []
    check = file_checks.check_page

    def noted(source: SourceText, *arguments: Any) -> tuple[CheckedPage, list[Problem]]:
        found.append(source.path)
        return check(source, *arguments)

    monkeypatch.setattr(file_checks, "check_page", noted)
    return found


def test_pages_with_the_same_text_are_not_checked_by_the_next_process(
    tmp_path: Path, checked: list[str]
) -> None:
    write_tree(tmp_path, PAGES)
    files = PageFiles(tmp_path)
    before = files.read_all_now(Config(), {})
    files.keep()
    checked.clear()

    again = PageFiles(tmp_path).read_all_now(Config(), {})

    assert again == before
    # A problem may be one of other files, and Markdown has other files in it.
    assert sorted(checked) == ["pages/words.md", "pages/wrong.fxl"]


def test_a_page_that_was_saved_meanwhile_is_checked(tmp_path: Path, checked: list[str]) -> None:
    write_tree(tmp_path, {"pages/index.fxl": PAGE % "index", "pages/other.fxl": PAGE % "other"})
    files = PageFiles(tmp_path)
    files.read_all_now(Config(), {})
    files.keep()
    write_tree(tmp_path, {"pages/other.fxl": PAGE % "newer"})
    checked.clear()

    project = PageFiles(tmp_path).read_all_now(Config(), {})

    assert checked == ["pages/other.fxl"]
    assert "newer" in project.pages[1].ui


@pytest.mark.parametrize("change", ["another version", "another folder", "no such file", "damaged"])
def test_stored_pages_that_do_not_match_are_not_used(
    tmp_path: Path, checked: list[str], monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": PAGE % "index", "site/index.fxl": PAGE % "site"})
    files = PageFiles(tmp_path)
    files.read_all_now(Config(), {})
    files.keep()
    (file,) = (tmp_path / ".fx/dev").iterdir()
    checked.clear()
    if change == "another version":
        monkeypatch.setattr(page_cache, "code_stamp", lambda: "another")
    elif change == "no such file":
        file.unlink()
    elif change == "damaged":
        file.write_bytes(file.read_bytes()[:-20])
    folder = "site" if change == "another folder" else "pages"

    PageFiles(tmp_path).read_all_now(Config(pages_dir=folder), {})

    assert checked == [f"{folder}/index.fxl"]


def test_a_disk_without_room_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, {"pages/index.fxl": PAGE % "index", ".fx": "a file, not a folder"})
    files = PageFiles(tmp_path)
    files.read_all_now(Config(), {})

    files.keep()

    assert len(PageFiles(tmp_path).read_all_now(Config(), {}).pages) == 1
