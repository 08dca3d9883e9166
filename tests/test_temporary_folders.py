"""Temporary folders of processes that were killed go, and those of living ones stay."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from fxtrio.temporary_folders import open_temporary_folder


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_what_a_killed_process_has_left_is_removed_by_the_next_one(folder: Path) -> None:
    (folder / "fx-test-left/sockets").mkdir(parents=True)
    (folder / "fx-other").mkdir()
    (folder / "fx-test-file").touch()
    (folder / "fx-test-link").symlink_to(folder / "fx-other")
    with open_temporary_folder("fx-test-") as living, open_temporary_folder("fx-test-") as second:
        assert living.is_dir() and second.is_dir()
        assert living.stat().st_mode & 0o077 == 0
        assert not (folder / "fx-test-left").exists()
    names = {path.name for path in folder.iterdir()}
    assert names == {"fx-other", "fx-test-file", "fx-test-link"}


def test_the_end_of_a_process_gives_up_its_folder(folder: Path) -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # it ends without its blocks being left, as one that is killed
        with open_temporary_folder("fx-test-") as temporary:
            (temporary / "file").touch()
            os.write(writing, temporary.name.encode())
            os._exit(0)
    os.waitpid(child, 0)
    left = folder / os.read(reading, 100).decode()
    os.close(reading)
    os.close(writing)
    assert (left / "file").exists()
    with open_temporary_folder("fx-test-"):
        assert not left.exists()


def test_a_folder_that_another_process_removes_as_abandoned_is_created_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, created = tempfile.mkdtemp, []

    def make(prefix: str, dir: Path) -> str:
        created.append(plain(prefix=prefix, dir=dir))
        if len(created) == 1:
            Path(created[0]).rmdir()
        return created[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", make)
    with open_temporary_folder("fx-test-") as second:
        assert [str(second)] == created[1:] and second.is_dir()
