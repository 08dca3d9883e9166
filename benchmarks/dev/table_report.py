"""Rows of the table → lines on the terminal, and a file of results."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.dev.figures import p95
from benchmarks.dev.table import Row
from benchmarks.results import FOLDER

_TITLE = 36
_CELL = 20


def heading(pages: int, names: Iterable[str]) -> str:
    """Return the line above the rows of one size."""
    return f"\n{f'{pages} pages':{_TITLE}}" + "".join(f"{name:>{_CELL}}" for name in names)


def line(row: Row, names: Iterable[str]) -> str:
    """Return the row: for each server the median, the 95th percentile, and what it has missed."""
    return f"{f'{row.title} ({row.unit})':{_TITLE}}" + "".join(
        f"{_cell(row, name):>{_CELL}}" for name in names
    )


def _cell(row: Row, name: str) -> str:
    times, missed = row.times.get(name), row.missed.get(name, 0)
    if not times:
        return "missed" if missed else "-"
    text = f"{statistics.median(times):.0f}"
    if len(times) > 1:
        text += f" ({p95(times):.0f})"
    return text + (f", {missed} missed" if missed else "")


def write(
    machine: Mapping[str, Any],
    sizes: Mapping[int, Sequence[Row]],
    began: datetime,
    folder: Path = FOLDER,
) -> Path:
    """Write all figures to ``dev-<date>.json`` and return its path."""
    folder.mkdir(exist_ok=True)
    path = folder / f"dev-{began:%Y-%m-%dT%H-%M-%S}.json"
    rows = [{"pages": pages, **_as_json(row)} for pages, found in sizes.items() for row in found]
    text = {"began": began.isoformat(timespec="seconds"), "machine": machine, "rows": rows}
    path.write_text(json.dumps(text, indent=1) + "\n")
    return path


def _as_json(row: Row) -> dict[str, Any]:
    return {
        "title": row.title,
        "unit": row.unit,
        "median": {name: statistics.median(times) for name, times in row.times.items() if times},
        "p95": {name: p95(times) for name, times in row.times.items() if times},
        "missed": row.missed,
        "all": row.times,
    }
