"""`fx check` names a `not-found.fxl` that a `LoaderError` of its pages passes over."""

from __future__ import annotations

from pathlib import Path

import pytest

from fxtrio.cli.check import check
from tests.trees import page, write_tree

MISSING = """
    @server
    async def load(request):
        raise LoaderError("no such thing", {status})
    """
NEAREST = "pages/shop/[id]/not-found.fxl"
PAGE = "pages/shop/[id]/index.fxl"


async def heads(root: Path, files: dict[str, str]) -> list[str]:
    write_tree(root, {"fx.config.json": "{}", **files})
    checked = await check(root, app="", imports=False, report=lambda _: None)
    return [problem.head for problem in checked.problems]


async def test_a_404_that_passes_over_a_not_found_page_is_named_where_it_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = page(MISSING.format(status="status_code=404"))
    files = {"pages/shop/error.fxl": page(""), NEAREST: page(""), PAGE: text}
    assert await heads(tmp_path, files) == [
        f"{PAGE}:3:11: a LoaderError shows 'pages/shop/error.fxl', and not {NEAREST!r}, whatever "
        f"its status is. Raise NotFound(…) of fx.runtime to show {NEAREST!r}."
    ]


@pytest.mark.parametrize(
    "files",
    [
        {"pages/error.fxl": "", "pages/not-found.fxl": "", "pages/a.fxl": "404"},
        {"pages/shop/not-found.fxl": "", "pages/shop/a.fxl": "404"},
        {"pages/a/not-found.fxl": "", "pages/a/b/error.fxl": "", "pages/a/b/c.fxl": "404"},
        {"pages/error.fxl": "", NEAREST: "", PAGE: "503"},
        {"pages/error.fxl": "", NEAREST: "", PAGE: "", "pages/layout.fxl": "404"},
    ],
    ids=["root", "no error page", "error page is nearer", "another status", "outer layout"],
)
async def test_there_is_no_warning_where_it_is_no_surprise(
    tmp_path: Path, files: dict[str, str]
) -> None:
    texts = {
        name: page(MISSING.format(status=status)) if status else page("")
        for name, status in files.items()
    }
    assert await heads(tmp_path, texts) == []
