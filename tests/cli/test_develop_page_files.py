"""Page files as `fx dev` reads them after a save, and writes their halves."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from fxtrio.compile import source as compile_source
from fxtrio.compile.problems import Problem
from fxtrio.compile.project import CheckedProject
from fxtrio.compile.source import SourceText, read_bytes
from fxtrio.config import Config
from fxtrio.develop.build import page_cache
from fxtrio.develop.build.build_files import BuildFiles
from fxtrio.develop.build.page_cache import PageFiles
from fxtrio.develop.processes.launch import Ahead
from tests.trees import write_tree

BROKEN = "@server\nasync def load(request:\n    return {}\n\nexport default () => <h1>one</h1>;\n"


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "perhaps half-written"])
async def test_a_mistake_is_reported_at_once_where_only_whole_files_are_read(
    tmp_path: Path, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    monkeypatch.setattr(page_cache, "has_inotify", lambda: whole)
    write_tree(tmp_path, {"pages/index.fxl": BROKEN})
    files = PageFiles(tmp_path)

    assert await files.read(["pages/index.fxl"]) == {}

    assert files.wrong()
    assert (trio.current_time() == 0) is whole


async def test_of_known_files_only_those_that_have_changed_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "export default () => <h1>%s</h1>;\n"
    write_tree(tmp_path, {f"pages/p{number}.fxl": page % "old" for number in range(20)})
    files = PageFiles(tmp_path)
    await files.read_all(Config(), {})
    write_tree(tmp_path, {"pages/p3.fxl": page % "new", "pages/fresh.fxl": page % "fresh"})
    read: list[str] = []

    def noted(data: bytes, path: str) -> SourceText | Problem:
        read.append(path)
        return read_bytes(data, path)

    monkeypatch.setattr(compile_source, "read_bytes", noted)

    project = await files.read_all(Config(), {}, {"pages/p3.fxl", "pages/fresh.fxl"})

    assert sorted(read) == ["pages/fresh.fxl", "pages/p3.fxl"]
    halves = {one.module.source: one.ui.strip() for one in project.pages}
    assert len(halves) == 21
    assert halves["pages/p3.fxl"] == (page % "new").strip()
    assert halves["pages/p4.fxl"] == (page % "old").strip()


@pytest.mark.parametrize("way", ["another", "many", "deleted", "same"])
async def test_a_half_that_is_still_to_be_written_does_not_replace_a_newer_one(
    tmp_path: Path, way: str
) -> None:
    page = "export default () => <h1>%s</h1>;\n"
    files, build = PageFiles(tmp_path), BuildFiles(tmp_path, Ahead())

    async def saved(text: str) -> CheckedProject:
        write_tree(tmp_path, {"pages/index.fxl": page % text, "pages/b.fxl": page % "b"})
        return await files.read_all(Config(), {})

    first = await saved("one")
    build.write_all(first)
    known, second, third = (
        {one.module.source: one for one in project.pages}
        for project in (first, await saved("two"), await saved("three"))
    )
    index = "pages/index.fxl"
    build.postpone({index: second[index]})
    if way == "another":
        build.write([third[index]], [])
    elif way == "deleted":
        build.write([], [index])
    else:
        build.write_changed(third if way == "many" else second, known)
    halves = {one: page.ui for one, page in build.postponed.items()}
    build.write_postponed()

    half = build.folder / "ui/pages/index.fxl.tsx"
    assert half.exists() is (way != "deleted")
    if way == "same":
        assert half.read_text() == second[index].ui == halves[index]
    else:
        assert index not in halves  # Node reads what is on the disk
        assert way == "deleted" or half.read_text() == third[index].ui
