"""The table of `python -m benchmarks.dev`: its projects, its lines, and its file."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.dev.fxtrio import bare
from benchmarks.dev.table import Row
from benchmarks.dev.table_report import Table, heading, line


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


def css() -> Row:
    row = Row("CSS", "ms")
    row.times["Vite"] = [10.0, 20.0, 90.0]
    return row


def test_the_file_has_every_figure(tmp_path: Path) -> None:
    table = Table.new(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), tmp_path)
    table.add(30, css(), {"cores": 2})
    assert table.file.name == "dev-2026-01-02T03-04-05.json"
    (written,) = json.loads(table.file.read_text())["rows"]
    assert written["pages"] == 30
    assert written["machine"] == {"cores": 2}
    assert written["median"] == {"Vite": 20.0}
    assert written["p95"] == {"Vite": 90.0}
    assert written["all"] == {"Vite": [10.0, 20.0, 90.0]}


def test_an_interrupted_run_continues_behind_its_last_whole_size(tmp_path: Path) -> None:
    table = Table.new(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), tmp_path)
    table.add(3, css(), {})
    table.finish(3)
    table.add(30, css(), {})  # and no more

    again = Table.read(table.file)
    again.add(30, css(), {})
    again.finish(30)

    text = json.loads(table.file.read_text())
    assert text["complete"] == [3, 30]
    assert [row["pages"] for row in text["rows"]] == [3, 30]
    assert text["began"] == "2026-01-02T03:04:05+00:00"
