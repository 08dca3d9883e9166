"""Changes of files are joined, and sorted by what has to be done about them."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
from watchfiles import Change

from fxtrio.cli.develop.watch import Changes, Pending, run_watch


@pytest.mark.parametrize(
    ("change", "file", "build"),
    [
        (Change.modified, "queries.py", False),
        (Change.added, "pages/api/users.py", True),
        (Change.deleted, "pages/api/users.py", True),
        (Change.modified, "pages/index.fxl", True),
        (Change.modified, "fx.config.json", True),
        (Change.added, "pages/a/index.md", True),
    ],
)
def test_only_the_text_of_python_modules_plays_no_part_in_a_build(
    tmp_path: Path, change: Change, file: str, build: bool
) -> None:
    changes = Changes.of(tmp_path, [(change, str(tmp_path / file))])

    assert changes == Changes((file,), build)


async def test_changes_that_nobody_has_taken_are_joined() -> None:
    pending = Pending()
    pending.add(Changes(("b.py",), False))
    pending.add(Changes(("a.fxl",), True))
    pending.add(Changes(("b.py",), False))

    assert await pending.take() == Changes(("a.fxl", "b.py"), True)
    with trio.move_on_after(0) as scope:
        await pending.take()
    assert scope.cancelled_caught


async def test_files_of_the_project_are_seen_and_what_is_built_from_them_is_not(
    tmp_path: Path,
) -> None:
    pending = Pending()
    for folder in (".fx/dev", "node_modules/x", "pages"):
        (tmp_path / folder).mkdir(parents=True)
    seen: set[str] = set()
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_watch, tmp_path, pending)
            while "pages/index.fxl" not in seen:  # the watcher needs a moment to begin
                for file in (".fx/dev/manifest.json", "node_modules/x/i.js", "notes.sqlite3"):
                    (tmp_path / file).write_text("x")
                (tmp_path / "pages/index.fxl").write_text("x")
                with trio.move_on_after(0.5):
                    seen.update((await pending.take()).files)
            nursery.cancel_scope.cancel()

    assert seen == {"pages/index.fxl"}
