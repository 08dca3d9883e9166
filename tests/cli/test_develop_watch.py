"""Changes of files are joined, and sorted by what has to be done about them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
from watchfiles import Change

from fxtrio.cli.develop import watch
from fxtrio.cli.develop.watch import Changes, PendingChanges, run_watch


async def test_changes_that_nobody_has_taken_are_joined() -> None:
    pending = PendingChanges()
    pending.add(Changes(("b.py",)))
    pending.add(Changes(("a.fxl",)))
    pending.add(Changes(("b.py",)))

    assert await pending.take() == Changes(("a.fxl", "b.py"))
    with trio.move_on_after(0) as scope:
        await pending.take()
    assert scope.cancelled_caught


async def test_files_of_the_project_are_seen_and_what_is_built_from_them_is_not(
    tmp_path: Path,
) -> None:
    pending = PendingChanges()
    (tmp_path / "pages").mkdir()
    ignored = (".fx/dev/manifest.json", "tests/test_a.py", "pages/.#index.fxl", "made/x.css")
    for file in ignored:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / ".gitignore").write_text("made/\n")
    seen: set[str] = set()
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_watch, tmp_path, pending)
            while "pages/index.fxl" not in seen:  # the watcher needs a moment to begin
                for file in ignored:
                    (tmp_path / file).write_text("x")
                (tmp_path / "pages/index.fxl").write_text("x")
                with trio.move_on_after(0.5):
                    seen.update((await pending.take()).files)
            nursery.cancel_scope.cancel()

    assert seen == {"pages/index.fxl"}


@pytest.fixture
def page(tmp_path: Path) -> str:
    file = tmp_path / "index.fxl"
    file.write_text("x")
    return str(file)


async def test_files_that_came_and_went_are_no_changes(
    tmp_path: Path, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = str(tmp_path / "draft")

    async def awatch(*_: object, **__: object) -> AsyncIterator[set[tuple[Change, str]]]:
        yield {(Change.added, draft), (Change.deleted, draft)}
        yield {(Change.added, draft), (Change.deleted, draft), (Change.modified, page)}
        # Replaced by another file of its name: deleted and added, and there.
        yield {(Change.deleted, page), (Change.added, page)}

    monkeypatch.setattr(watch, "awatch", awatch)
    pending = PendingChanges()
    await run_watch(tmp_path, pending)

    assert await pending.take() == Changes(("index.fxl",))
