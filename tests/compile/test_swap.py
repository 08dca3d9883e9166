"""A staged folder takes its place at once, or not at all."""

from __future__ import annotations

import errno
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fxtrio.atomic_write import exchange
from fxtrio.compile.publish import replace_folder
from fxtrio.compile.publish.replace_folder import open_staging, put_in_place

_KILLED = """
import os, signal, sys
from pathlib import Path
from fxtrio.compile.publish.replace_folder import open_staging

with open_staging(Path(sys.argv[1])) as staging:
    print(staging, end="", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def put(target: Path, content: str) -> None:
    with open_staging(target) as staging:
        (staging / "file").write_text(content)
        put_in_place(staging, target)


@pytest.fixture(params=["in one step", "in two steps"])
def target(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "in two steps":
        monkeypatch.setattr(replace_folder, "exchange", lambda one, other: False)
    return tmp_path / ".fx" / "build"


def test_a_staged_folder_takes_the_place_of_the_one_before(target: Path) -> None:
    put(target, "first")
    assert (target / "file").read_text() == "first"
    put(target, "second")
    assert (target / "file").read_text() == "second"
    assert names_in(target.parent) == ["build"]
    assert target.stat().st_mode & 0o777 == 0o755


def test_a_failure_leaves_the_folder_before_as_it_was(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(target, "first")
    real = Path.replace

    def fail(self: Path, other: Path) -> Path:
        if other == target and self.name != target.name:
            raise OSError("no")
        return real(self, other)

    monkeypatch.setattr(replace_folder, "exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="no"):
        put(target, "second")
    assert (target / "file").read_text() == "first"
    assert names_in(target.parent) == ["build"]


@pytest.mark.parametrize("number", [errno.EXDEV, errno.EBUSY])
def test_a_folder_that_cannot_be_renamed_gets_the_new_content(
    number: int, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a folder of a lower layer of an image, or where a volume is mounted."""
    target.mkdir(parents=True)
    (target / "folder").mkdir()
    (target / "folder" / "old").touch()
    (target / "file").write_text("first")
    keep_in_place(target, number, monkeypatch)
    place = target.stat().st_ino
    put(target, "second")

    assert target.stat().st_ino == place
    assert (target / "file").read_text() == "second"
    assert names_in(target) == ["file"]
    assert names_in(target.parent) == ["build"]


def test_a_failure_leaves_the_content_of_a_folder_that_cannot_be_renamed(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (target / "folder").mkdir(parents=True)
    (target / "folder" / "old").touch()
    keep_in_place(target, errno.EXDEV, monkeypatch)
    real = shutil.copy2

    def fail(source: Path, place: Path, **options: bool) -> object:
        if place == target / "file":
            place.write_text("sec")
            raise OSError(errno.ENOSPC, "no space")
        return real(source, place, **options)

    monkeypatch.setattr(shutil, "copy2", fail)
    with pytest.raises(OSError, match="no space"):
        put(target, "second")

    assert (target / "folder" / "old").exists()
    assert names_in(target) == ["folder"]
    assert names_in(target.parent) == ["build"]


def keep_in_place(target: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let renames of a folder fail, and those to and from another file system."""
    real = Path.replace

    def fail(self: Path, other: Path) -> Path:
        if self == target:
            raise OSError(number, "cannot be renamed")
        if target in (self.parent, other.parent):
            raise OSError(errno.EXDEV, "another file system")
        return real(self, other)

    monkeypatch.setattr(replace_folder, "exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "replace", fail)


def test_linux_exchanges_folders_in_one_step(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / name).mkdir(parents=True)
    exchanged = exchange(tmp_path / "a", tmp_path / "b")
    assert names_in(tmp_path / "a") == (["b"] if exchanged else ["a"])
    assert exchange(tmp_path / "a", tmp_path / "missing") is False


def test_what_a_killed_process_has_staged_is_removed_by_the_next_one(tmp_path: Path) -> None:
    target = tmp_path / "dist [1]"
    (tmp_path / "dist [1].new-look").mkdir()
    staging = subprocess.run(
        [sys.executable, "-c", _KILLED, target], stdout=subprocess.PIPE, text=True
    )
    assert staging.returncode == -signal.SIGKILL
    assert (left := Path(staging.stdout)).is_dir()
    with open_staging(target) as running:
        assert not left.exists()
        with open_staging(target):
            assert running.exists()
    assert names_in(tmp_path) == ["dist [1].new-look"]
