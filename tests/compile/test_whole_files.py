"""What others read while it is written is whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fxtrio.atomic_write import make_folder, write_whole
from fxtrio.compile.build_steps import remove_other_halves, write_halves
from fxtrio.compile.project import check_project
from fxtrio.config import Config
from tests.trees import write_tree


@pytest.mark.parametrize("lasting", [True, False])
def test_a_file_is_replaced_in_one_step_and_only_by_another_text(
    tmp_path: Path, lasting: bool
) -> None:
    file = tmp_path / "a/b.tsx"
    assert write_whole(file, b"one", lasting=lasting)
    with file.open("rb") as reading:
        assert not write_whole(file, b"one", lasting=lasting)
        assert write_whole(file, b"two", lasting=lasting)
        assert reading.read() == b"one"  # who has begun to read it goes on

    assert file.read_bytes() == b"two"
    assert list(tmp_path.rglob("*")) == [tmp_path / "a", file]


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/b/c": ""})
    with pytest.raises(OSError, match="b"):
        write_whole(tmp_path / "a/b", b"one")

    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


def test_halves_of_removed_pages_are_removed(tmp_path: Path) -> None:
    page = "X = 1\n\nexport default () => 1;\n"
    write_tree(tmp_path, {"pages/a.fxl": page, "pages/b/c.fxl": page})
    build = tmp_path / "build"
    write_halves(check_project(tmp_path, Config()).pages, build)
    half = build / "ui/pages/a.fxl.tsx"
    before = half.stat().st_ino
    (tmp_path / "pages/b/c.fxl").unlink()
    pages = check_project(tmp_path, Config()).pages
    write_halves(pages, build)
    remove_other_halves(pages, build)

    files = {path.relative_to(build).as_posix() for path in build.rglob("*") if path.is_file()}
    assert files == {"ui/pages/a.fxl.tsx", "server/pages/a.fxl.py"}
    assert half.stat().st_ino == before


@pytest.mark.parametrize("make", [make_folder, lambda folder: write_whole(folder / "file", b"")])
def test_a_write_after_a_move_does_not_recreate_the_project(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    project = tmp_path / "shop"
    with pytest.raises(FileNotFoundError, match=str(project)):
        make(project / ".fx/dev/ui")
    assert not project.exists()
    project.mkdir()
    make(project / ".fx/dev/ui")
    assert (project / ".fx/dev/ui").is_dir()
