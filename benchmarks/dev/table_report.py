"""Rows of the table → lines on the terminal, and a file of results."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

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


@attrs.define
class Table:
    """The rows of all sizes, written to a file after each of them: a run may be broken off."""

    file: Path
    began: str
    complete: list[int] = attrs.field(factory=list)
    """The sizes that were measured as a whole."""

    rows: list[dict[str, Any]] = attrs.field(factory=list)

    @classmethod
    def new(cls, began: datetime, folder: Path = FOLDER) -> Table:
        """Return one for ``dev-<date>.json``."""
        file = folder / f"dev-{began:%Y-%m-%dT%H-%M-%S}.json"
        return cls(file, began.isoformat(timespec="seconds"))

    @classmethod
    def read(cls, file: Path) -> Table:
        """Return what has been written to ``file``, as far as its sizes are complete."""
        text = json.loads(file.read_text())
        complete = text["complete"]
        rows = [row for row in text["rows"] if row["pages"] in complete]
        return cls(file, text["began"], complete, rows)

    def add(self, pages: int, row: Row, machine: Mapping[str, Any]) -> None:
        """Add one row of the size ``pages``, with what is known of the machine, and write it."""
        self.rows.append({"pages": pages, **_as_json(row), "machine": machine})
        self._write()

    def finish(self, pages: int) -> None:
        """Note that all rows of the size ``pages`` are there."""
        self.complete.append(pages)
        self._write()

    def _write(self) -> None:
        self.file.parent.mkdir(exist_ok=True)
        text = {"began": self.began, "complete": self.complete, "rows": self.rows}
        self.file.write_text(json.dumps(text, indent=1) + "\n")


def _as_json(row: Row) -> dict[str, Any]:
    return {
        "title": row.title,
        "unit": row.unit,
        "median": {name: statistics.median(times) for name, times in row.times.items() if times},
        "p95": {name: p95(times) for name, times in row.times.items() if times},
        "missed": row.missed,
        "all": row.times,
    }
