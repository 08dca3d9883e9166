"""Places of mistakes in projects and files whose names have blanks and brackets."""

from __future__ import annotations

from pathlib import Path

import pytest

from fxtrio.cli.develop.shown import shown_error
from fxtrio.errors import FxtrioError
from fxtrio.ssr.failures import RenderFailed
from tests.trees import write_tree


@pytest.mark.parametrize("source", ["pages/index.fxl", "pages/(my shop)/[id]/a b.fxl"])
def test_the_place_of_an_error_is_found(tmp_path: Path, source: str) -> None:
    root = tmp_path / "Mäx (neu) & co"
    write_tree(root, {source: "one\ntwo\nthree\n"})
    stack = (
        f"TypeError: no\n    at f ({root}/node_modules/x/i.js:1:1)\n"
        f"    at Page ({root}/{source}:2:3)\n    at other ({root}/{source}:3:1)"
    )
    failed = RenderFailed("no", stack, "TypeError")
    told = FxtrioError(f"{source}:3: it is none. Take another.")

    shown = [shown_error(error, "failed", root) for error in (failed, told)]

    place = str(root / source)
    assert [(one["file"], one["line"]) for one in shown] == [(place, 2), (place, 3)]
    assert "2 | two" in shown[0]["frame"]
