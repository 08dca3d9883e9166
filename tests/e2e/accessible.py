"""What every page must be: without violations that axe-core finds, and no wider than a phone."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page

from fxtrio.compile.bundling.installation import toolchain_folder

AXE = "axe-core@4.14.1"
COLOR_RULES = ("color-contrast", "link-in-text-block")
"""Rules that read colors. What the others read is the same in a dark page as in a light one."""

SCHEMES: tuple[tuple[Literal["light", "dark"], int, tuple[str, ...]], ...] = (
    ("light", 1280, ()),
    ("light", 390, ()),
    ("dark", 390, COLOR_RULES),
    ("dark", 1280, COLOR_RULES),
)
"""Color schemes, widths, and the rules that are applied in each; none stands for all."""

RUN = """
(rules) => axe
    .run({ resultTypes: ["violations"], ...(rules.length && { runOnly: rules }) })
    .then(({ violations }) => violations.flatMap(
        ({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`)))
"""
OVERFLOW = "document.documentElement.scrollWidth - window.innerWidth"
STILL = """
new Promise(requestAnimationFrame).then(() => {
    document.getAnimations().forEach((animation) => animation.finish());
})
"""
"""Waits for a frame, so that pages know their new size."""


@cache
def axe() -> str:
    """Return the script of axe-core, which stays beside the toolchain once it was fetched."""
    script = toolchain_folder().with_name(f"{AXE}.js")
    if not script.is_file():
        npm = shutil.which("npm")
        assert npm is not None
        script.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=script.parent) as folder:
            options = ("--prefix", folder, "--no-audit", "--no-fund", "--prefer-offline")
            subprocess.run(
                [npm, "install", *options, AXE], check=True, capture_output=True, timeout=120
            )
            (Path(folder) / "node_modules/axe-core/axe.min.js").replace(script)
    return script.read_text("utf-8")


def assert_accessible(page: Page) -> None:
    """Look at the page on a phone and a notebook, light and dark."""
    page.evaluate(axe())
    size = page.viewport_size
    for scheme, width, rules in SCHEMES:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        page.evaluate(STILL)
        where = f"{page.url}, {width} px, {scheme}"
        assert page.evaluate(RUN, rules) == [], where
        assert page.evaluate(OVERFLOW) <= 0, where
    page.emulate_media(color_scheme="light")
    if size is not None:
        page.set_viewport_size(size)
