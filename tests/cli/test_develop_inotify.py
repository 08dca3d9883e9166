"""Linux tells `fx dev` of changed files: at once where a file is whole, and by their own names."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest
import trio
from inotify_simple import Event, INotify, flags

from fxtrio.develop.reload import inotify
from fxtrio.develop.reload.inotify import watch_changes
from fxtrio.develop.reload.watcher import Changes, PendingChanges, has_inotify, run_watch
from tests.trees import write_tree

Reported = set[tuple[str, str]] | None


@asynccontextmanager
async def _watching(root: Path) -> AsyncIterator[Callable[[], Awaitable[Reported]]]:
    """Watch `root`; yields a function that returns the next report, as words and relative paths."""
    async with aclosing(watch_changes(root)) as changes:
        assert await anext(changes) is None

        async def next_report() -> Reported:
            with trio.fail_after(30):
                found = await anext(changes)
            if found is None:
                return None
            return {(one.name, Path(path).relative_to(root).as_posix()) for one, path in found}

        yield next_report


async def test_a_file_that_is_written_and_closed_is_reported_at_once(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    write_tree(tmp_path, {"pages/a.fxl": "x"})
    async with _watching(tmp_path) as next_report:
        begun = trio.current_time()
        (tmp_path / "pages/a.fxl").write_text("y")
        assert await next_report() == {("modified", "pages/a.fxl")}
        (tmp_path / "b.tmp").write_text("y")
        assert await next_report() == {("added", "b.tmp"), ("modified", "b.tmp")}
        (tmp_path / "b.tmp").replace(tmp_path / "pages/a.fxl")
        assert ("modified", "pages/a.fxl") in (await next_report() or set())
        assert trio.current_time() == begun


async def test_what_one_save_takes_away_and_puts_back_is_reported_together(tmp_path: Path) -> None:
    page = tmp_path / "a.fxl"
    page.write_text("x")
    async with _watching(tmp_path) as next_report:
        page.rename(tmp_path / "a.fxl~")
        page.write_text("y")
        both = await next_report() or set()
        assert ("deleted", "a.fxl") in both
        assert ("modified", "a.fxl") in both


async def test_a_file_that_is_not_closed_is_no_news_yet(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "x"})
    async with _watching(tmp_path) as next_report:
        with (tmp_path / "a.py").open("a") as file:
            file.write("y")
            file.flush()
            (tmp_path / "b.py").write_text("z")
            assert {path for _, path in await next_report() or set()} == {"b.py"}
        assert await next_report() == {("modified", "a.py")}


async def test_links_and_rights_are_changes(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "x"})
    async with _watching(tmp_path) as next_report:
        os.link(tmp_path / "a.py", tmp_path / "hard.py")
        assert await next_report() == {("added", "hard.py")}
        (tmp_path / "soft.py").symlink_to("a.py")
        assert await next_report() == {("added", "soft.py")}
        (tmp_path / "a.py").chmod(0o600)
        assert await next_report() == {("added", "a.py")}
        (tmp_path / "soft.py").unlink()
        assert await next_report() == {("deleted", "soft.py")}


async def test_folders_are_watched_from_when_they_come_until_they_go(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    async with _watching(tmp_path) as next_report:
        (tmp_path / "pages/blog").mkdir()
        assert await next_report() == {("added", "pages/blog")}
        (tmp_path / "pages/blog/a.fxl").write_text("x")
        assert ("modified", "pages/blog/a.fxl") in (await next_report() or set())

        (tmp_path / "pages/blog").rename(tmp_path / "pages/news")
        assert await next_report() == {("deleted", "pages/blog"), ("added", "pages/news")}
        (tmp_path / "pages/news/a.fxl").write_text("y")
        assert await next_report() == {("modified", "pages/news/a.fxl")}

        outside = tmp_path.parent / f"{tmp_path.name} outside"
        (tmp_path / "pages/news").rename(outside)
        assert await next_report() == {("deleted", "pages/news")}
        (outside / "a.fxl").write_text("z")
        (tmp_path / "last.py").write_text("")
        assert {path for _, path in await next_report() or set()} == {"last.py"}

        (tmp_path / "pages/deep/er").mkdir(parents=True)
        assert ("added", "pages/deep") in (await next_report() or set())
        (tmp_path / "pages/deep/er/b.fxl").write_text("x")
        assert ("modified", "pages/deep/er/b.fxl") in (await next_report() or set())
        shutil.rmtree(tmp_path / "pages/deep")
        assert ("deleted", "pages/deep") in (await next_report() or set())
        (tmp_path / "pages/deep").mkdir()
        assert await next_report() == {("added", "pages/deep")}
        (tmp_path / "pages/deep/c.fxl").write_text("x")
        assert ("modified", "pages/deep/c.fxl") in (await next_report() or set())


async def test_virtual_environments_are_not_watched_whatever_their_name(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pyvenv.cfg": "", "env/pyvenv.cfg": "", "env/lib/a.py": "", "b.py": ""})
    async with _watching(tmp_path) as next_report:
        (tmp_path / "env/lib/a.py").write_text("x")
        (tmp_path / "b.py").write_text("x")  # the project may be one itself
        assert await next_report() == {("modified", "b.py")}

        (tmp_path / "new/lib").mkdir(parents=True)
        assert ("added", "new") in (await next_report() or set())
        (tmp_path / "new/pyvenv.cfg").write_text("")
        (tmp_path / "b.py").write_text("y")
        assert ("modified", "b.py") in (await next_report() or set())
        (tmp_path / "new/lib/c.py").write_text("")
        (tmp_path / "b.py").write_text("z")
        assert await next_report() == {("modified", "b.py")}


async def test_links_to_folders_are_followed_but_not_round_in_a_circle(tmp_path: Path) -> None:
    root, other = tmp_path / "project", tmp_path / "shared"
    write_tree(root, {"pages/a.fxl": ""})
    write_tree(other, {"lib/a.py": ""})
    (root / "shared").symlink_to(other)
    (root / "pages/up").symlink_to("..")
    (other / "lib/back").symlink_to(root)
    async with _watching(root) as next_report:
        (other / "lib/a.py").write_text("x")
        assert await next_report() == {("modified", "shared/lib/a.py")}
        (root / "pages/a.fxl").write_text("x")
        assert await next_report() == {("modified", "pages/a.fxl")}
        (root / "again").symlink_to(other / "lib")
        assert await next_report() == {("added", "again")}
        (other / "lib/a.py").write_text("y")
        assert await next_report() == {("modified", "shared/lib/a.py"), ("modified", "again/a.py")}
        (root / "again").unlink()
        assert await next_report() == {("deleted", "again")}
        (other / "lib/a.py").write_text("z")
        assert await next_report() == {("modified", "shared/lib/a.py")}


async def test_only_marks_are_reported_of_ignored_folders(tmp_path: Path) -> None:
    write_tree(tmp_path, {".fx/dev/manifest.json": "", ".git/index": "", "a.py": ""})
    async with _watching(tmp_path) as next_report:
        write_tree(tmp_path, {".fx/dev/other.json": "", ".git/HEAD": "", ".fx/cache/x": ""})
        (tmp_path / ".fx/dev/manifest.json").unlink()
        assert await next_report() == {("deleted", ".fx/dev/manifest.json")}
        shutil.rmtree(tmp_path / ".fx")
        assert ("deleted", ".fx/dev") in (await next_report() or set())
        write_tree(tmp_path, {"node_modules/.package-lock.json": "", "node_modules/x/i.js": ""})
        mark = "node_modules/.package-lock.json"
        while mark not in {path for _, path in await next_report() or set()}:
            pass
        write_tree(tmp_path, {"node_modules/x/j.js": "", mark: "{}"})
        assert await next_report() == {("modified", mark)}


async def test_all_files_are_looked_at_when_changes_were_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(INotify):  # type: ignore[misc]
        dropped = False

        def read(self, *args: object, **options: object) -> list[Event]:
            events = super().read(*args, **options)
            if self.dropped:
                return list(events)
            Full.dropped = True
            return [Event(-1, flags.Q_OVERFLOW, 0, "")]

    monkeypatch.setattr(inotify, "INotify", Full)
    pending = PendingChanges()
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_watch, tmp_path, pending)
            await trio.testing.wait_all_tasks_blocked(0.01)
            while not Full.dropped:
                write_tree(tmp_path, {"lib/a.py": "x"})
                with trio.move_on_after(0.1):
                    assert await pending.take() == Changes(("lib/a.py",))
            write_tree(tmp_path, {"lib/b.py": "x"})
            while "lib/b.py" not in (await pending.take()).files:
                pass
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("number", "cause"),
    [
        (errno.ENOSPC, "The system cannot watch more folders: {place}: No space left on device"),
        (errno.EACCES, "{place}: it may not be read"),
    ],
    ids=["too few watches", "no rights"],
)
async def test_a_folder_that_cannot_be_watched_is_named(
    tmp_path: Path, number: int, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, {"lib/a.py": "", "pg/b.py": ""})

    class LimitedINotify(INotify):  # type: ignore[misc]
        def add_watch(self, path: str, mask: int) -> int:
            if path.endswith("pg"):
                raise OSError(number, os.strerror(number))
            return int(super().add_watch(path, mask))

    monkeypatch.setattr(inotify, "INotify", LimitedINotify)
    pending = PendingChanges()
    warned = trio.Event()
    warnings: list[str] = []

    def warn(text: str) -> None:
        warnings.append(text)
        warned.set()

    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: run_watch(tmp_path, pending, warn=warn))
            await warned.wait()
            write_tree(tmp_path, {"lib/c.py": "x"})
            assert await pending.take() == Changes(("lib/c.py",))
            nursery.cancel_scope.cancel()

    (warning,) = warnings
    assert warning.startswith(cause.format(place=tmp_path / "pg"))
    assert "Files are looked at twice a second instead." in warning


async def test_a_project_folder_that_goes_is_named(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write_tree(root, {"a.py": ""})
    warnings: list[str] = []
    pending = PendingChanges()
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: run_watch(root, pending, warn=warnings.append))
            while not warnings:
                shutil.rmtree(root, ignore_errors=True)
                with trio.move_on_after(0.1):
                    await pending.take()
            nursery.cancel_scope.cancel()
    assert [warning.startswith(f"{root}: the folder was deleted.") for warning in warnings] == [
        True
    ]


@pytest.mark.parametrize(
    ("system", "release", "wished", "expected"),
    [
        ("linux", "6.1.0-generic", None, True),
        ("linux", "6.1.0-generic", "false", True),
        ("linux", "6.1.0-generic", "1", False),
        ("linux", "5.15.90.1-microsoft-standard-WSL2", None, False),
        ("darwin", "23.1.0", None, False),
    ],
)
def test_inotify_is_used_where_it_reports_all_changes(
    system: str,
    release: str,
    wished: str | None,
    expected: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "release", lambda: release)
    if wished is None:
        monkeypatch.delenv("WATCHFILES_FORCE_POLLING", raising=False)
    else:
        monkeypatch.setenv("WATCHFILES_FORCE_POLLING", wished)
    assert has_inotify() is expected
