"""The table of `python -m benchmarks.dev`: its projects, its lines, and its file."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.dev.fxtrio import bare
from benchmarks.dev.table import Row
from benchmarks.dev.table_report import heading, line, write


def test_a_project_has_as_many_pages_as_its_size_says(tmp_path: Path) -> None:
    server = bare(tmp_path)
    for pages in (5, 3):
        server.fill(pages)
        others = [file.name for file in (tmp_path / "pages").glob("p*.fxl")]
        assert sorted(others) == [f"p{number}.fxl" for number in range(1, pages)]


def test_a_start_without_caches_keeps_the_project(tmp_path: Path) -> None:
    server = bare(tmp_path)
    server.project.write(".fx/dev/made", "")
    server.clear_caches()
    assert not (tmp_path / ".fx").exists()
    assert (tmp_path / "pages/bench.fxl").exists()


def test_each_line_has_a_cell_for_every_server() -> None:
    row = Row("CSS", "ms")
    row.times["Vite"] = [10.0, 20.0, 90.0]
    row.missed["Next.js"] = 2
    names = ["fx dev", "Vite", "Next.js"]
    assert heading(3, names).split() == ["3", "pages", "fx", "dev", "Vite", "Next.js"]
    assert line(row, names).split() == ["CSS", "(ms)", "-", "20", "(90)", "missed"]


def test_the_file_has_every_figure(tmp_path: Path) -> None:
    row = Row("CSS", "ms")
    row.times["Vite"] = [10.0, 20.0, 90.0]
    began = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    path = write({"cores": 2}, {30: [row]}, began, tmp_path / "results")
    assert path.name == "dev-2026-01-02T03-04-05.json"
    (written,) = json.loads(path.read_text())["rows"]
    assert written["pages"] == 30
    assert written["median"] == {"Vite": 20.0}
    assert written["p95"] == {"Vite": 90.0}
    assert written["all"] == {"Vite": [10.0, 20.0, 90.0]}
