"""What `fx dev` keeps of Node's answers for the next time that it starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from fxtrio.develop.build import code_stamp, node_answer
from fxtrio.develop.build.node_answer import find_answer, store_answer

PLAN: dict[str, Any] = {"views": [{"module": "pages/index.fxl"}]}
ANSWER: dict[str, Any] = {
    "ok": True,
    "buildId": "development",
    "server": "",
    "entry": {"module": "/_fx/entry", "css": [], "preload": ["/_fx/one.js"]},
    "files": {},
    "clients": [{"module": "/_fx/pages/index.fxl.tsx"}],
    "islandDoubts": [{"path": "ui/a.tsx", "line": 1, "column": 2, "message": "m", "remedy": "r"}],
    "warnings": [],
}


def test_the_answer_to_the_same_plan_is_found(tmp_path: Path) -> None:
    stored = store_answer(tmp_path, PLAN, ANSWER)

    found = find_answer(tmp_path, PLAN)

    assert found is not None
    assert found == stored
    assert [one.kind for one in found.island_doubts] == [one.kind for one in stored.island_doubts]
    assert found.entry.preload == ("/_fx/one.js",)
    assert found.clients == ({"module": "/_fx/pages/index.fxl.tsx"},)


@pytest.mark.parametrize("change", ["another plan", "nothing kept", "damaged"])
def test_no_answer_is_found_to_anything_else(tmp_path: Path, change: str) -> None:
    if change != "nothing kept":
        store_answer(tmp_path, PLAN, ANSWER)
    if change == "damaged":
        (file,) = tmp_path.iterdir()
        file.write_bytes(file.read_bytes()[:-20])
    plan = {"views": []} if change == "another plan" else PLAN

    assert find_answer(tmp_path, plan) is None


def test_an_answer_to_another_version_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_answer(tmp_path, PLAN, ANSWER)
    code_stamp.code_stamp.cache_clear()
    monkeypatch.setattr("fxtrio.__version__", "0.0.1")
    try:
        assert find_answer(tmp_path, PLAN) is None
    finally:
        code_stamp.code_stamp.cache_clear()


@pytest.mark.parametrize("answer", ["null", "{}", '{"ok":true}', '"text"', "[" * 2000 + "]" * 2000])
def test_an_answer_of_another_shape_is_not_found(tmp_path: Path, answer: str) -> None:
    store_answer(tmp_path, PLAN, ANSWER)
    (file,) = tmp_path.iterdir()
    digest = node_answer._digest(PLAN, answer.encode())
    file.write_bytes(msgspec.json.encode({"digest": digest, "answer": msgspec.Raw(answer)}))

    assert find_answer(tmp_path, PLAN) is None


def test_an_answer_of_too_few_views_is_not_found(tmp_path: Path) -> None:
    store_answer(tmp_path, PLAN, {**ANSWER, "clients": []})

    assert find_answer(tmp_path, PLAN) is None


def test_an_answer_that_was_changed_is_not_found(tmp_path: Path) -> None:
    store_answer(tmp_path, PLAN, ANSWER)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes().replace(b"/_fx/one.js", b"/_fx/two.js"))

    assert find_answer(tmp_path, PLAN) is None


def test_a_disk_without_room_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    store_answer(tmp_path / "file", PLAN, ANSWER)

    assert find_answer(tmp_path / "file", PLAN) is None
