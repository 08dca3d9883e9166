"""Pages in Markdown, built and served: without scripts, and by the client router."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from fxtrio.manifest import load_manifest
from tests.e2e.support import Server, fx, served, visit
from tests.fonts.small_font import small_font
from tests.trees import write_tree

LAYOUT = """
import { Link, Toc, useContent } from 'fx/client';

export default function Layout({ children }) {
  const content = useContent();
  return (
    <>
      <Link href="/live">Live</Link> <b>{content === null ? 'none' : content.frontMatter.title}</b>
      <Toc label="Contents" />
      <main>{children}</main>
    </>
  );
}
"""
INTRO = """
---
title: Introduction
---

# Introduction

<Toc />

## Tables

| a | b |
|---|---|
| 1 | [Forms](guide/forms.md#send) |

![A dot](dot.svg)

![A lake](lake.jpg)

- [x] done
- [ ] [Live](/live)

## Code

```python
x = "<&>"
```
"""
LIVE = """
import { useState } from 'react';
import { Link } from 'fx/client';
export default function Live() {
  const [count, setCount] = useState(0);
  return (
    <>
      <button onClick={() => setCount(count + 1)}>{`Count ${count}`}</button>
      <Link href="/intro">Introduction</Link>
    </>
  );
}
"""
PICTURES = """
import { Font, Image } from 'fx/client';
import wide from './wide.woff2?font';
import lake from './lake.jpg?picture';
import logo from './logo.png?width=40&picture';

export default function Pictures() {
  return (
    <>
      <style>{'img { max-width: 100%; height: auto; }'}</style>
      <p><Image src={logo} alt="Logo" priority /></p>
      <p><Image src={lake} alt="Lake" /></p>
      <Font src={wide} />
      <p id="below" style={{ fontFamily: wide.family }}>Below</p>
    </>
  );
}
"""
FILES = {
    "fx.config.json": '{"baseUrl": "/docs", "csp": "enforce"}',
    "pages/layout.fxl": LAYOUT,
    "pages/intro.md": INTRO,
    "pages/dot.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
    "pages/guide/forms.md": "---\ntitle: Forms\n---\n\n## Send\n\n" + "Text.\n\n" * 99,
    "pages/pictures.fxl": PICTURES,
    "pages/live.fxl": LIVE,
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    project = write_tree(tmp_path_factory.mktemp("docs"), FILES)
    Image.effect_noise((1300, 650), 60).convert("RGB").save(project / "pages/lake.jpg")
    Image.new("RGBA", (90, 60), (255, 0, 0, 99)).save(project / "pages/logo.png")
    (project / "pages/wide.woff2").write_bytes(small_font("Wide", width=1000))
    fx("build", cwd=project)
    assert {view.module: view.scripts for view in load_manifest(project / ".fx/build").views} == {
        "pages/intro.md": False,
        "pages/guide/forms.md": False,
        "pages/pictures.fxl": False,
        "pages/live.fxl": True,
    }
    with served(project) as server:
        yield server


def test_a_markdown_page_is_html_alone(site: Server, browser: Browser) -> None:
    seen = visit(browser)
    page = seen.page
    page.goto(f"{site.url}/docs/intro")

    expect(page).to_have_title("Introduction")
    expect(page.locator("script:not([type=speculationrules])")).to_have_count(0)
    expect(page.locator("nav")).to_have_count(2)
    assert page.locator("nav").nth(0).inner_html() == page.locator("nav").nth(1).inner_html()
    assert page.eval_on_selector("img", "image => image.naturalWidth") == 9
    assert re.fullmatch(r"/docs/_fx/lake-\d+-[\w-]{8}\.avif", chosen_file(page, "A lake"))
    expect(page.locator("pre")).to_have_text('x = "<&>"')
    assert page.eval_on_selector_all("input", "all => all.map((one) => one.checked)") == [
        True,
        False,
    ]
    page.click("text=Forms")
    page.wait_for_url("**/docs/guide/forms#send")
    expect(page.locator("h2")).to_be_in_viewport()
    assert not seen.complaints


def chosen_file(page: Page, alt: str) -> str:
    """Return the path of the file that a browser has chosen for a picture, when it is there."""
    image = page.get_by_alt_text(alt)
    image.scroll_into_view_if_needed()
    url: str = image.evaluate("image => image.decode().then(() => image.currentSrc)")
    return urlsplit(url).path


@pytest.mark.parametrize(("width", "file"), [(390, "lake-480"), (1280, "lake-1300")])
def test_a_browser_loads_a_picture_in_the_size_that_it_shows(
    site: Server, browser: Browser, width: int, file: str
) -> None:
    seen = visit(browser)
    page = seen.page
    page.set_viewport_size({"width": width, "height": 300})
    page.goto(f"{site.url}/docs/pictures", wait_until="commit")
    place = page.locator("#below").evaluate("element => element.offsetTop")

    chosen = chosen_file(page, "Lake")

    assert chosen.startswith(f"/docs/_fx/{file}-")
    assert chosen_file(page, "Logo").startswith("/docs/_fx/logo-80-")
    assert page.locator("#below").evaluate("element => element.offsetTop") == place
    assert page.get_by_alt_text("Logo").evaluate("image => [image.width, image.height]") == [40, 27]
    answer = page.request.get(site.url + chosen)
    assert answer.headers["content-type"] == "image/avif"
    assert "immutable" in answer.headers["cache-control"]
    assert not seen.complaints


def test_a_font_is_loaded_with_the_page(site: Server, browser: Browser) -> None:
    seen = visit(browser)
    page = seen.page
    with page.expect_request("**/wide-*.woff2") as request:
        page.goto(f"{site.url}/docs/pictures")

    page.evaluate("document.fonts.ready")
    assert page.evaluate("document.fonts.check('16px Wide', 'Below')")
    width = "element => { const range = document.createRange(); range.selectNodeContents(element);"
    width += " return range.getBoundingClientRect().width; }"
    assert page.locator("#below").evaluate(width) == 5 * 16
    preload = page.locator("link[rel=preload][as=font]")
    assert preload.get_attribute("href") == urlsplit(request.value.url).path
    assert not seen.complaints  # one that is preloaded and not used, or that the policy refuses


def test_the_client_router_shows_markdown_pages(site: Server, browser: Browser) -> None:
    seen = visit(browser)
    page = seen.page
    page.goto(f"{site.url}/docs/live")
    page.click("button")
    expect(page.locator("button")).to_have_text("Count 1")
    expect(page.locator("b")).to_have_text("none")
    page.evaluate("window.stayed = true")

    page.click("text=Introduction")

    expect(page.locator("h1")).to_have_text("Introduction")
    expect(page.locator("b")).to_have_text("Introduction")
    expect(page.locator("nav").first).to_contain_text("Tables")
    page.click("article >> text=Live")
    expect(page.locator("button")).to_have_text("Count 0")
    assert page.evaluate("window.stayed")
    assert not seen.complaints
