"""What the benchmark of growth measures in this process, and what it makes of figures."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from benchmarks.growth.series import Amount, jobs, members
from benchmarks.growth.steady import slope
from benchmarks.growth.table import Series, write

FEW = Amount(seconds=0, most=100)


def test_sizes_above_the_limit_are_left_out() -> None:
    assert list(FEW.sizes(10, 100, 1_000)) == [10, 100]


@pytest.mark.parametrize("measure", [jobs, members])
def test_a_series_has_a_row_for_each_size(measure: object) -> None:
    assert callable(measure)
    series = measure(FEW)
    assert [row[0] for row in series.rows][-1] == 100
    assert all(len(row) == len(series.columns) and min(row) >= 0 for row in series.rows)


def test_tables_are_written_as_json_and_as_markdown(tmp_path: Path) -> None:
    series = Series("rows", "A page.", ("rows", "CPU µs"), [(10, 12.345), (10_000, 98_765.4)])
    began = datetime(2026, 1, 2, 3, 4, 5)
    figures, tables = write([series], {"cores": 2}, began, tmp_path)
    assert figures.name == "growth-2026-01-02T03-04-05.json"
    assert json.loads(figures.read_text())["series"][0]["rows"] == [[10, 12.345], [10000, 98765.4]]
    assert "| 10 | 12.3 |\n| 10,000 | 98,765 |" in tables.read_text()
    assert "- cores: 2" in tables.read_text()


def test_a_slope_is_that_of_most_rows() -> None:
    times = tuple(float(second) for second in range(0, 100, 10))
    climbing = tuple(3 + 0.5 * time for time in times)
    assert slope(times, climbing) == pytest.approx(0.5)
    disturbed = (*climbing[:4], 900.0, *climbing[5:])
    assert slope(times, disturbed) == pytest.approx(0.5)
    assert slope(times, (7.0,) * 10) == 0
