"""What one series of measurements found, as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs
from rich.table import Table

from benchmarks.report import as_markdown
from benchmarks.results import FOLDER

Row = Sequence[float]


@attrs.define
class Series:
    """Figures by a size that grows."""

    name: str
    note: str
    """What was measured, in a sentence."""

    columns: tuple[str, ...]
    """The size, then the figures, each with its unit."""

    rows: list[Row] = attrs.field(factory=list)

    def as_table(self) -> Table:
        """Return the figures with as many digits as they are good for."""
        table = Table()
        for column in self.columns:
            table.add_column(column, justify="right")
        for row in self.rows:
            table.add_row(*map(_short, row))
        return table


def write(
    series: Sequence[Series], machine: dict[str, Any], began: datetime, folder: Path = FOLDER
) -> tuple[Path, Path]:
    """Write ``growth-<date>.json`` and ``.md``, and return their paths."""
    folder.mkdir(exist_ok=True)
    path = folder / f"growth-{began:%Y-%m-%dT%H-%M-%S}.json"
    found = {
        "began": began.isoformat(timespec="seconds"),
        "machine": machine,
        "series": [attrs.asdict(one) for one in series],
    }
    path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    tables = "\n\n".join(
        f"## {one.name}\n\n{one.note}\n\n{as_markdown(one.as_table())}" for one in series
    )
    facts = "\n".join(f"- {name}: {value}" for name, value in machine.items())
    text = f"# Growth, {began:%Y-%m-%d %H:%M}\n\n{facts}\n\n{tables}\n"
    markdown = path.with_suffix(".md")
    markdown.write_text(text, "utf-8")
    return path, markdown


def _short(value: float) -> str:
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
