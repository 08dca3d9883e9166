"""Changes of files are joined, and sorted by what has to be done about them."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from watchfiles import Change

from fxtrio.develop.reload import inotify, watcher
from fxtrio.develop.reload.file_snapshot import SeenFiles
from fxtrio.develop.reload.watcher import Changes, PendingChanges, run_watch
from tests.trees import write_tree


async def test_changes_that_nobody_has_taken_are_joined() -> None:
    pending = PendingChanges()
    pending.add(Changes(("b.py",)))
    pending.add(Changes(("a.fxl",)))
    pending.add(Changes(("b.py",)))

    assert await pending.take() == Changes(("a.fxl", "b.py"))
    with trio.move_on_after(0) as scope:
        await pending.take()
    assert scope.cancelled_caught


@pytest.fixture(params=["inotify", "watchfiles"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(watcher, "has_inotify", lambda: request.param == "inotify")
    return str(request.param)


@pytest.fixture
def by_watchfiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "has_inotify", lambda: False)


@pytest.mark.usefixtures("way")
async def test_files_of_the_project_are_watched_and_the_built_ones_are_not(
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


async def test_a_save_before_the_watcher_runs_is_seen(
    tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in ("old.fxl", "gone.fxl", "same.fxl"):
        (tmp_path / file).write_text("x")
    module, name = (inotify, "INotify") if way == "inotify" else (watcher, "awatch")
    real = getattr(module, name)

    def begin(*args: Any, **options: Any) -> Any:
        write_tree(tmp_path, {"pages/index.fxl": "x", "old.fxl": "new"})
        (tmp_path / "gone.fxl").unlink()
        return real(*args, **options)

    monkeypatch.setattr(module, name, begin)
    pending = PendingChanges()
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_watch, tmp_path, pending)
            changes = await pending.take()
            nursery.cancel_scope.cancel()

    assert changes == Changes(("gone.fxl", "old.fxl", "pages/index.fxl"))


@pytest.fixture
def page(tmp_path: Path) -> str:
    file = tmp_path / "index.fxl"
    file.write_text("x")
    return str(file)


@pytest.mark.usefixtures("by_watchfiles")
async def test_files_that_came_and_went_are_no_changes(
    tmp_path: Path, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = str(tmp_path / "draft")

    async def awatch(*_: object, **__: object) -> AsyncIterator[set[tuple[Change, str]]]:
        yield {(Change.added, draft), (Change.deleted, draft)}
        yield {(Change.added, draft), (Change.deleted, draft), (Change.modified, page)}
        # Replaced by another file of its name: deleted and added, and there.
        yield {(Change.deleted, page), (Change.added, page)}

    monkeypatch.setattr(watcher, "awatch", awatch)
    pending = PendingChanges()
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_watch, tmp_path, pending)
            assert await pending.take() == Changes(("index.fxl",))
            nursery.cancel_scope.cancel()


def test_folders_that_come_or_go_are_their_files(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/v1.2/a.fxl": "", "lib/a.py": "", "lib/b/c.py": ""})
    seen = SeenFiles(tmp_path)

    def changed_files(change: Change, path: str) -> list[str]:
        found = seen.changes_of([(change, str(tmp_path / path))])
        assert {one for one, _ in found} <= {change}
        return sorted(Path(file).relative_to(tmp_path).as_posix() for _, file in found)

    assert changed_files(Change.modified, "lib/b") == []
    (tmp_path / "lib").rename(tmp_path / "rev 2")
    assert changed_files(Change.deleted, "lib") == ["lib/a.py", "lib/b/c.py"]
    assert changed_files(Change.added, "rev 2") == ["rev 2/a.py", "rev 2/b/c.py"]
    write_tree(tmp_path, {"rev 2/d.py": ""})
    assert changed_files(Change.added, "rev 2/d.py") == ["rev 2/d.py"]
    shutil.rmtree(tmp_path / "rev 2")
    assert changed_files(Change.deleted, "rev 2") == ["rev 2/a.py", "rev 2/b/c.py", "rev 2/d.py"]
    shutil.rmtree(tmp_path / "pages/v1.2")
    assert changed_files(Change.deleted, "pages/v1.2") == ["pages/v1.2/a.fxl"]
    assert changed_files(Change.deleted, "nobody/knows") == ["nobody/knows"]


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (OSError('OS file watch limit reached. about ["/x"]'), "limit reached. Files are looked"),
        (PermissionError('Permission denied about ["/x/pg"]'), "/x/pg: it may not be read. Files"),
        (ExceptionGroup("", [RuntimeError("error in underlying watcher")]), "underlying watcher"),
    ],
    ids=["too few watches", "no rights", "later"],
)
@pytest.mark.usefixtures("by_watchfiles")
async def test_files_are_looked_at_where_they_cannot_be_watched(
    tmp_path: Path, error: Exception, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"lib/a.py": "", "lib/b.py": "", "node_modules/x/i.js": ""})

    async def awatch(*_: object, **__: object) -> AsyncIterator[set[tuple[Change, str]]]:
        (tmp_path / "lib/b.py").unlink()
        raise error
        yield set()

    monkeypatch.setattr(watcher, "awatch", awatch)
    pending = PendingChanges()
    warnings: list[str] = []
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(run_watch, tmp_path, pending, warn=warnings.append))
            assert await pending.take() == Changes(("lib/b.py",))
            write_tree(tmp_path, {"lib/a.py": "x = 1\n", "c.py": "", "node_modules/x/j.js": ""})
            seen: set[str] = set()
            while len(seen) < 2:
                seen.update((await pending.take()).files)
            nursery.cancel_scope.cancel()

    assert seen == {"lib/a.py", "c.py"}
    assert [cause in warning for warning in warnings] == [True]
