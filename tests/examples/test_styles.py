"""The starter and the examples have the same stylesheets."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/fx.config.json"))


@pytest.mark.parametrize("sheet", ["pages/styles.css", "pages/parts.css"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_looks_like_the_starter(example: Path, sheet: str) -> None:
    starter = ROOT / "fxtrio/starter/base" / sheet
    assert (example / sheet).read_text("utf-8") == starter.read_text("utf-8")
