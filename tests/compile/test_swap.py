"""A staged folder takes its place at once, or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

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


@pytest.fixture(params=[errno.EXDEV, errno.EBUSY])
def fixed(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that cannot be renamed, nor can the folder in it.

    As in a lower layer of an image, or where a volume is mounted.
    """
    target = tmp_path / ".fx" / "build"
    (target / "folder").mkdir(parents=True)
    (target / "folder" / "old").touch()
    (target / "file").write_text("first")

    def failing(rename: Callable[..., object]) -> Callable[..., object]:
        def fail(one: Path, other: Path) -> object:
            if Path(one) in (target, target / "folder"):
                raise OSError(request.param, "cannot be renamed")
            return rename(one, other)

        return fail

    monkeypatch.setattr(replace_folder, "exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "replace", failing(Path.replace))
    monkeypatch.setattr(os, "rename", failing(os.rename))
    return target


def test_a_folder_that_cannot_be_renamed_gets_the_new_content(fixed: Path) -> None:
    place = fixed.stat().st_ino
    put(fixed, "second")

    assert fixed.stat().st_ino == place
    assert (fixed / "file").read_text() == "second"
    assert names_in(fixed) == ["file"]
    assert names_in(fixed.parent) == ["build"]


def test_a_full_disk_leaves_the_content_of_a_folder_that_cannot_be_renamed(
    fixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "copytree", Mock(side_effect=OSError(errno.ENOSPC, "no space")))
    with pytest.raises(OSError, match="no space"):
        put(fixed, "second")

    assert_unchanged(fixed)


def test_a_failure_in_between_leaves_the_content_of_a_folder_that_cannot_be_renamed(
    fixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.replace

    def fail(one: Path, other: Path) -> Path:
        if other == fixed / "file" and one.parent.name == "new":
            raise OSError(errno.EIO, "broken disk")
        return rename(one, other)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="broken disk"):
        put(fixed, "second")

    assert_unchanged(fixed)


def test_what_was_removed_of_a_folder_that_cannot_be_removed_comes_back(
    fixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = shutil.rmtree

    def fail(one: Path, ignore_errors: bool = False) -> None:
        if one == fixed / "folder":
            (one / "old").unlink()
            raise OSError(errno.EBUSY, "a volume is mounted there")
        remove(one, ignore_errors)

    monkeypatch.setattr(shutil, "rmtree", fail)
    with pytest.raises(OSError, match="volume"):
        put(fixed, "second")

    assert_unchanged(fixed)


def assert_unchanged(fixed: Path) -> None:
    assert (fixed / "file").read_text() == "first"
    assert (fixed / "folder" / "old").exists()
    assert names_in(fixed) == ["file", "folder"]
    assert names_in(fixed.parent) == ["build"]


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
