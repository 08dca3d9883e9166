"""Random pages, some with islands: those that need no scripts are the same with them."""

from __future__ import annotations

import os
from pathlib import Path

import attrs
import pytest
from playwright.sync_api import Browser

from fxtrio.manifest import load_manifest
from tests.e2e.support import fx, served, visit
from tests.random_pages.grammar import LAYOUT, RandomPage, random_page
from tests.random_pages.islands import INNER
from tests.trees import write_tree

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

SEEDS = range(int(os.environ.get("FX_FIRST_PAGE", "0")), 10**9)
"""`FX_FIRST_PAGE=3000 pytest tests/random_pages` looks at other ones."""

COUNT = 600
AT_A_TIME = 10
COMPARE = (Path(__file__).parent / "compare.js").read_text()


def test_pages_that_need_no_scripts_are_the_same_with_them(
    tmp_path: Path, browser: Browser
) -> None:
    start = {"pages/index.fxl": "export default () => <p>Start</p>;", "pages/layout.fxl": LAYOUT}
    start["parts/inner.jsx"] = INNER
    write_tree(tmp_path, start)
    pages = {seed: random_page(seed) for seed in SEEDS[:COUNT]}
    _write(tmp_path, "plain", pages)
    fx("build", cwd=tmp_path)
    proved = _proved(tmp_path)
    for seed in pages.keys() - proved:
        (tmp_path / f"pages/plain/{seed}.fxl").unlink()
    # A name of the same length, since pages show the length of their path.
    _write(tmp_path, "alive", {seed: _with_scripts(pages[seed]) for seed in proved})
    fx("build", cwd=tmp_path)
    pairs = [[f"/plain/{seed}", f"/alive/{seed}"] for seed in sorted(proved)]

    with served(tmp_path) as server:
        tab = visit(browser).page
        tab.goto(server.url)
        different = [
            one
            for start in range(0, len(pairs), AT_A_TIME)
            for one in tab.evaluate(COMPARE, pairs[start : start + AT_A_TIME])
        ]

    with_islands = {seed for seed in proved if "<Island" in pages[seed].text}
    assert len(proved - with_islands) > COUNT / 10
    assert len(with_islands) > COUNT / 50
    assert different == []


def _with_scripts(page: RandomPage) -> RandomPage:
    return attrs.evolve(page, text=f"SCRIPTS = 'always'\n{page.text}")


def _write(root: Path, folder: str, pages: dict[int, RandomPage]) -> None:
    for seed, page in pages.items():
        files = {f"parts/{name}": text for name, text in page.modules.items()}
        write_tree(root, {**files, f"pages/{folder}/{seed}.fxl": page.text})


def _proved(root: Path) -> set[int]:
    views = load_manifest(root / ".fx/build").views
    return {
        int(Path(view.module).stem)
        for view in views
        if view.module.startswith("pages/plain/") and not view.scripts
    }
