"""A staged folder takes its place at once, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fxtrio.compile.publish import replace_folder
from fxtrio.compile.publish.replace_folder import make_staging, put_in_place


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def staged(target: Path, content: str) -> Path:
    staging = make_staging(target)
    (staging / "file").write_text(content)
    return staging


@pytest.fixture(params=["in one step", "in two steps"])
def target(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "in two steps":
        monkeypatch.setattr(replace_folder, "_exchange", lambda one, other: False)
    return tmp_path / ".fx" / "build"


def test_a_staged_folder_takes_the_place_of_the_one_before(target: Path) -> None:
    put_in_place(staged(target, "first"), target)
    assert (target / "file").read_text() == "first"
    put_in_place(staged(target, "second"), target)
    assert (target / "file").read_text() == "second"
    assert names_in(target.parent) == ["build"]
    assert target.stat().st_mode & 0o777 == 0o755


def test_a_failure_leaves_the_folder_before_as_it_was(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_place(staged(target, "first"), target)
    staging = staged(target, "second")
    (staging / "file").unlink()
    real = Path.replace

    def fail(self: Path, other: Path) -> Path:
        if self == staging:
            raise OSError("no")
        return real(self, other)

    monkeypatch.setattr(replace_folder, "_exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="no"):
        put_in_place(staging, target)
    assert (target / "file").read_text() == "first"


def test_linux_exchanges_folders_in_one_step(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / name).mkdir(parents=True)
    exchanged = replace_folder._exchange(tmp_path / "a", tmp_path / "b")
    assert names_in(tmp_path / "a") == (["b"] if exchanged else ["a"])
    assert replace_folder._exchange(tmp_path / "a", tmp_path / "missing") is False


def test_folders_of_killed_builds_are_removed_and_those_of_running_ones_stay(
    tmp_path: Path,
) -> None:
    target = tmp_path / "build"
    killed, running = make_staging(target), make_staging(target)
    os.utime(killed, (0, 0))
    make_staging(target)
    assert not killed.exists()
    assert running.exists()
