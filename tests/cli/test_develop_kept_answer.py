"""What `fx dev` keeps of Node's answers for the next time that it starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fxtrio.develop.build.kept_answer import find_answer, keep_answer

PLAN: dict[str, Any] = {"views": [{"module": "pages/index.fxl"}]}
ANSWER: dict[str, Any] = {
    "ok": True,
    "buildId": "development",
    "entry": {"module": "/_fx/entry", "css": [], "preload": ["/_fx/one.js"]},
    "files": {},
    "clients": [{"module": "/_fx/pages/index.fxl.tsx"}],
    "warnings": [],
}


def test_the_answer_to_the_same_plan_is_found(tmp_path: Path) -> None:
    keep_answer(tmp_path, PLAN, ANSWER)

    found = find_answer(tmp_path, PLAN)

    assert found is not None
    assert found.entry.preload == ("/_fx/one.js",)
    assert found.clients == ({"module": "/_fx/pages/index.fxl.tsx"},)


@pytest.mark.parametrize("change", ["another plan", "nothing kept", "damaged"])
def test_no_answer_is_found_to_anything_else(tmp_path: Path, change: str) -> None:
    if change != "nothing kept":
        keep_answer(tmp_path, PLAN, ANSWER)
    if change == "damaged":
        (kept,) = tmp_path.iterdir()
        kept.write_bytes(kept.read_bytes()[:-20])
    plan = {"views": []} if change == "another plan" else PLAN

    assert find_answer(tmp_path, plan) is None


def test_a_disk_without_room_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    keep_answer(tmp_path / "file", PLAN, ANSWER)

    assert find_answer(tmp_path / "file", PLAN) is None
