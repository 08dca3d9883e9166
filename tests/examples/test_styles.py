"""The starter and the examples have one stylesheet."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/fx.config.json"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_looks_like_the_starter(example: Path) -> None:
    sheet = "pages/styles.css"
    starter = ROOT / "fxtrio/starter/base" / sheet
    assert (example / sheet).read_text("utf-8") == starter.read_text("utf-8")
