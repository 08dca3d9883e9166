"""The key of a project that has not set one."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fxtrio.secret_key import FILE, project_key


def test_the_key_stays_and_is_for_its_user_alone(tmp_path: Path) -> None:
    key = project_key(tmp_path)

    assert len(key) == 43
    assert project_key(tmp_path) == key
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert [file.name for file in (tmp_path / ".fx").iterdir()] == [FILE.name]


@pytest.mark.parametrize("content", [b"", b"\n", b"short\n", bytes(range(256)), b"\xff" * 43])
def test_a_file_without_a_key_is_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).parent.mkdir()
    (tmp_path / FILE).write_bytes(content)

    key = project_key(tmp_path)

    assert len(key) == 43
    assert project_key(tmp_path) == key
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [None, b""], ids=["none", "empty"])
def test_all_who_begin_together_get_the_same_key(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / FILE).parent.mkdir()
        (tmp_path / FILE).write_bytes(content)
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(project_key, [tmp_path] * 32))) == 1


def test_a_key_that_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir(parents=True)  # as one of another user is: nobody may read it

    with pytest.raises(OSError, match="secret-key"):
        project_key(tmp_path)
