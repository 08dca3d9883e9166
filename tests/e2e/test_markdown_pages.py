"""Pages in Markdown, built and served: without scripts, and by the client router."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from fxtrio.manifest import load_manifest
from tests.e2e.support import Server, fx, served, visit
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
FILES = {
    "fx.config.json": '{"baseUrl": "/docs", "csp": "enforce"}',
    "pages/layout.fxl": LAYOUT,
    "pages/intro.md": INTRO,
    "pages/dot.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
    "pages/guide/forms.md": "---\ntitle: Forms\n---\n\n## Send\n\n" + "Text.\n\n" * 99,
    "pages/live.fxl": LIVE,
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    project = write_tree(tmp_path_factory.mktemp("docs"), FILES)
    fx("build", cwd=project)
    assert {view.module: view.scripts for view in load_manifest(project / ".fx/build").views} == {
        "pages/intro.md": False,
        "pages/guide/forms.md": False,
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
    expect(page.locator("pre")).to_have_text('x = "<&>"')
    assert page.eval_on_selector_all("input", "all => all.map((one) => one.checked)") == [
        True,
        False,
    ]
    page.click("text=Forms")
    page.wait_for_url("**/docs/guide/forms#send")
    expect(page.locator("h2")).to_be_in_viewport()
    assert not seen.complaints


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
