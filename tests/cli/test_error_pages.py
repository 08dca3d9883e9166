"""The error pages of the starter and of the examples say what has happened."""

from __future__ import annotations

from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2]
ERROR_PAGES = [
    path
    for folder in ("fxtrio/starter", "examples")
    for path in sorted((PAGES / folder).rglob("*.fxl"))
    if path.stem in ("error", "not-found")
]


@pytest.mark.parametrize(
    "path", ERROR_PAGES, ids=lambda path: f"{path.parents[1].name}-{path.stem}"
)
def test_an_error_page_shows_the_message(path: Path) -> None:
    assert "{error.message}" in path.read_text(encoding="utf-8")
