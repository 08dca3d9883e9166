"""Records an edit below `fx dev`, for the site's home page: the screen follows, its state stays.

One picture holds the page file and the page that Chromium shows, as they are at that moment.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, expect

from fxtrio.content.article import highlighted
from tests.cli.in_browser import edit, hydrated
from tests.e2e.support import serving
from tests.ports import free_port
from tests.trees import write_tree

HEIGHT = 400
CODE, BROWSER = 520, 380
"""Their widths, beside each other."""

LARGEST = 150_000
"""Of the file (bytes)."""

LOOK, TYPED = 900, 90
"""How long a picture of a result is shown, and one of a change (ms); five seconds together."""

INDEX = """
GREETING = "Hello"


@server
async def load(request):
    return {"greeting": GREETING}


import { useState } from "react";

export default function Home({ data }) {
  const [count, setCount] = useState(0);
  return (
    <main>
      <h1>{data.greeting}</h1>
      <button onClick={() => setCount(count + 1)}>
        Clicked {count} times
      </button>
    </main>
  );
}
"""
LAYOUT = """
export default function Layout({ children }) {
  const style = { font: "18px system-ui", padding: "24px" };
  return <div style={style}>{children}</div>;
}
"""
EDITOR = """
<!doctype html><meta charset="utf-8">
<style>
body { margin: 0; height: 100vh; background: linear-gradient(#eef4ff 140px, #fff5e8 140px) }
pre { margin: 0; padding: 10px 16px; font: 13px/1.25 monospace; overflow: hidden; color: #1d2433 }
.k, .kn, .kd, .kr, .o, .k-Async, .nt { color: #7a3e9d } .s2, .s { color: #2f6f2f }
.nd, .nf, .fm { color: #1f5fae }
</style>
<div id="code"></div>
"""
EDITS = (('"Hello"', '"Good morning"'), ("Clicked {count} times", "{count} clicks"))
"""One in each half."""


class Recording:
    """Pictures of a page file and of the page that `fx dev` serves, each with its time."""

    def __init__(self, browser: Browser, url: str, project: Path) -> None:
        self.project = project
        self.code = browser.new_page(viewport={"width": CODE, "height": HEIGHT})
        self.code.set_content(EDITOR)
        self.tab = browser.new_page(viewport={"width": BROWSER, "height": HEIGHT})
        self.tab.goto(url)
        hydrated(self.tab)
        self.pictures: list[Image.Image] = []
        self.times: list[int] = []

    def take(self, text: str, time: int) -> None:
        """Add a picture with ``text`` in the place of the file."""
        code = highlighted(text, "jsx", "pages/index.fxl")
        self.code.evaluate("html => { document.getElementById('code').innerHTML = html; }", code)
        picture = Image.new("RGB", (CODE + BROWSER, HEIGHT))
        for page, left in ((self.code, 0), (self.tab, CODE)):
            shot = page.screenshot(animations="disabled", caret="hide")
            picture.paste(Image.open(io.BytesIO(shot)), (left, 0))
        self.pictures.append(picture)
        self.times.append(time)

    def change(self, old: str, new: str, result: str) -> None:
        """Replace a part of the file letter by letter, save it, and wait for ``result``."""
        text = self.text()
        for typed in _typed(old, new):
            self.take(text.replace(old, typed), TYPED)
        edit(self.project, old, new)
        expect(self.tab.locator("main")).to_contain_text(result)
        self.take(self.text(), LOOK)

    def text(self) -> str:
        return (self.project / "pages/index.fxl").read_text("utf-8").strip()


def _typed(old: str, new: str) -> Iterator[str]:
    """Yield what stands in the file while one text is typed in place of another."""
    step = max(len(new) // 5, 1)
    yield from (new[:end] for end in range(0, len(new), step))


def record(browser: Browser, folder: Path, file: Path) -> None:
    """Write the recording, an animated picture that plays once."""
    project, port = folder / "edited", free_port()
    write_tree(project, {"pages/index.fxl": INDEX, "pages/layout.fxl": LAYOUT})
    (project / "fx.config.json").write_text("{}")
    command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)]
    with serving(command, project, port) as server:
        recording = Recording(browser, server.url, project)
        button = recording.tab.get_by_role("button")
        recording.take(recording.text(), LOOK)
        for count in (1, 2, 3):
            button.click()
            expect(button).to_have_text(f"Clicked {count} times")
            recording.take(recording.text(), 2 * TYPED)
        recording.change(*EDITS[0], "Good morning")
        expect(button).to_have_text("Clicked 3 times")
        recording.change(*EDITS[1], "3 clicks")
    first, *others = recording.pictures
    first.save(
        file, save_all=True, append_images=others, duration=recording.times, loop=1, quality=80,
        method=6, minimize_size=True,
    )  # fmt: skip
    assert sum(recording.times) <= 5000, "what moves for longer must be stoppable"
    assert file.stat().st_size <= LARGEST
