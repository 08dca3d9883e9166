"""Places of mistakes in projects and files whose names have blanks and brackets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fxtrio.develop.report.overlay_errors import overlay_error, overlay_stop
from fxtrio.errors import FxtrioError
from fxtrio.ssr.errors import RenderFailed
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
    with_place = FxtrioError(f"{source}:3: it is none. Take another.")

    overlays = [overlay_error(error, "failed", root) for error in (failed, with_place)]

    place = str(root / source)
    assert [(one["file"], one["line"]) for one in overlays] == [(place, 2), (place, 3)]
    assert "2 | two" in overlays[0]["frame"]


def test_a_name_of_the_framework_that_nothing_imports_has_its_import_as_remedy(
    tmp_path: Path,
) -> None:
    root = write_tree(tmp_path, {"helper.py": "def find():\n    raise NotFound('x')\n"})
    names: dict[str, Any] = {}
    exec(compile((root / "helper.py").read_text(), str(root / "helper.py"), "exec"), names)
    with pytest.raises(NameError) as caught:
        names["find"]()

    overlay = overlay_error(caught.value, "failed", root)

    assert (overlay["file"], overlay["line"]) == (str(root / "helper.py"), 2)
    assert overlay["remedy"].startswith("Write 'from fx.runtime import NotFound': ")


STOPPED = """\
  + Exception Group Traceback (most recent call last):
  |   File "/lib/trio/_core/_run.py", line 1117, in __aexit__
  |     raise combined_error_from_nursery
  | ExceptionGroup: Exceptions from Trio nursery (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "{root}/app.py", line 1, in both
    |     async with lifespan(app):
    |   File "{root}/life.py", line 2, in lifespan
    |     app.state.life = 1 / 0
    |                      ~~^~~
    | ZeroDivisionError: division by zero
    +------------------------------------
"""


@pytest.mark.parametrize(
    ("details", "message", "place"),
    [
        (STOPPED, "ZeroDivisionError: division by zero", ("life.py", 2, 1)),
        ("life.py:2:5: it is none. Take another.", "", ("life.py", 2, 5)),
        ("life.py: load(): it gives none. Return a dict.", "", ("life.py", 3, 1)),
        ("life.py: other(): it gives none. Return a dict.", "", ("life.py", 1, 1)),
        ("The plugin 'x' failed.", "", ("", 0, 0)),
    ],
    ids=["a group", "a message", "a function", "another function", "no place"],
)
def test_the_place_of_what_keeps_an_app_from_being_served_is_found(
    tmp_path: Path, details: str, message: str, place: tuple[str, int, int]
) -> None:
    write_tree(tmp_path, {"life.py": "one\ntwo\nasync def load(request):\n", "app.py": "one\n"})
    details = details.format(root=tmp_path)

    overlay = overlay_stop("The app has stopped", details, tmp_path)

    file = str(tmp_path / place[0]) if place[0] else ""
    assert (overlay["message"], overlay["file"]) == (message, file)
    assert (overlay["line"], overlay["column"]) == place[1:]
    assert overlay["trace"] == details
    assert (f"{place[1]} | " in overlay["frame"]) == bool(file)
