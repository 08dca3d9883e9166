"""Figures of `python -m benchmarks.dev`, and its saves: each can be seen, and be taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from playwright.sync_api import Error

from benchmarks.dev.figures import p95, per_save, summary
from benchmarks.dev.fxtrio import bare, fxtrio
from benchmarks.dev.model import Project
from benchmarks.dev.saving import Saving
from benchmarks.dev.server import Running


@pytest.mark.parametrize(
    ("count", "expected"), [(1, 1), (2, 2), (20, 19), (30, 28), (100, 95)], ids=str
)
def test_the_95th_percentile_is_one_of_the_times(count: int, expected: float) -> None:
    assert p95(range(1, count + 1)) == expected


def test_times_are_reported_with_their_minimum() -> None:
    assert summary([40.0, 30.4, 90.0]) == "40 (90) min 30"
    assert per_save([0.05, 0.02, 0.9], 0.01) == "50, without a save 10"


class _Reloading:
    """A window that reloads when the first save is to be watched, and shows all others."""

    def __init__(self) -> None:
        self.watched: list[str] = []

    def evaluate_handle(self, code: str, _: float) -> _Reloading:
        self.watched.append(code)
        if len(self.watched) == 1:
            raise Error("Execution context was destroyed")
        return self

    def evaluate(self, _: str) -> float:
        return 0.0


def test_a_save_that_could_not_be_watched_counts_with_the_next(tmp_path: Path) -> None:
    server = bare(tmp_path)
    page: Any = _Reloading()
    saving = Saving(server, cast("Running", None), page)
    with pytest.raises(Error):
        list(saving.save("component"))
    list(saving.save("component"))
    assert page.watched[0] == page.watched[1]
    assert "badge 1<" in (tmp_path / "pages/bench/_badge.jsx").read_text()


def test_every_save_changes_the_project_and_errors_are_taken_back(tmp_path: Path) -> None:
    server = fxtrio("notes", tmp_path)

    def state(project: Project) -> dict[Path, str]:
        pages = sorted((project.root / "pages").rglob("*.*"))
        return {path: path.read_text() for path in pages if path.suffix in (".fxl", ".jsx", ".css")}

    for edits in server.edits.values():
        before = state(server.project)
        for number in (1, 2):
            for edit in edits:
                earlier = state(server.project)
                edit.save(server.project, number)
                assert state(server.project) != earlier
        assert (state(server.project) == before) == (len(edits) == 2)
