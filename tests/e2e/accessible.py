"""What every page must be: without violations that axe-core finds, and no wider than a phone."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from playwright.sync_api import Page

AXE = "axe-core@4.14.1"
WIDTHS = (390, 1280)
"""A phone, and a notebook (px)."""

RUN = """
axe.run().then(({ violations }) => violations.flatMap(
    ({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`)))
"""
OVERFLOW = "document.documentElement.scrollWidth - window.innerWidth"
STILL = "document.getAnimations().forEach((animation) => animation.finish())"


@cache
def axe() -> str:
    """Return the script of axe-core, fetched once by each process of the tests."""
    npm = shutil.which("npm")
    assert npm is not None
    with tempfile.TemporaryDirectory() as folder:
        options = ("--prefix", folder, "--no-audit", "--no-fund", "--prefer-offline")
        subprocess.run(
            [npm, "install", *options, AXE], check=True, capture_output=True, timeout=120
        )
        return (Path(folder) / "node_modules/axe-core/axe.min.js").read_text("utf-8")


def assert_accessible(page: Page) -> None:
    """Look at the page on a phone and a notebook, light and dark."""
    page.evaluate(axe())
    size = page.viewport_size
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.evaluate(STILL)
            where = f"{page.url}, {width} px, {scheme}"
            assert page.evaluate(RUN) == [], where
            assert page.evaluate(OVERFLOW) <= 0, where
    page.emulate_media(color_scheme="light")
    if size is not None:
        page.set_viewport_size(size)
