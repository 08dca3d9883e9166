"""Figures of `python -m benchmarks.dev`, and its saves: each can be seen, and be taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.dev.figures import p95, per_save, shown
from benchmarks.dev.fxtrio import fxtrio
from benchmarks.dev.model import Project


@pytest.mark.parametrize(
    ("count", "expected"), [(1, 1), (2, 2), (20, 19), (30, 28), (100, 95)], ids=str
)
def test_the_95th_percentile_is_one_of_the_times(count: int, expected: float) -> None:
    assert p95(range(1, count + 1)) == expected


def test_times_are_reported_with_their_minimum() -> None:
    assert shown([40.0, 30.4, 90.0]) == "40 (90) min 30"
    assert per_save([0.05, 0.02, 0.9], 0.01) == "50, without a save 10"


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
