"""Pages in Markdown below `fx dev`: what is saved shows at once, mistakes too."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.in_browser import hydrated, wait_for, wait_for_text
from tests.e2e.support import Server, visit
from tests.trees import write_tree

pytestmark = [pytest.mark.browser, pytest.mark.shared_dev]

LAYOUT = """
import { Toc, useContent } from "fx/client";

export default function Layout({ children }) {
  return <><b>{useContent()?.frontMatter.title}</b><Toc className="side" />{children}</>;
}
"""
POSTS = """
from fx import content

@server
async def load(request):
    return {"html": [post.html for post in (await content.load("posts")).values()]}

export default function Posts({ data }) {
  return <p id="posts" dangerouslySetInnerHTML={{ __html: data.html.join("") }} />;
}
"""
MODEL = "import attrs\n\n@attrs.frozen\nclass FrontMatter:\n    title: str\n"


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_saved_content_appears_at_once(project: Path, server: Server, browser: Browser) -> None:
    text = '---\ntitle: One\n---\n\n## Two\n\n```python file="code/x.py"\n```\n\n[To](other.md)\n'
    files = {
        "pages/guide/layout.fxl": LAYOUT,
        "pages/guide/content.py": MODEL,
        "code/x.py": "x = 1\n",
        "pages/guide/other.md": "---\ntitle: Other\n---\nAnother.\n",
        "pages/guide/index.md": text,
        "pages/posts.fxl": POSTS,
        "posts/a.md": "Rain\n",
    }
    write_tree(project, files)
    index = project / "pages/guide/index.md"
    wait_for_text(server, "Two", "/guide")
    page = visit(browser).page
    page.goto(f"{server.url}/guide")
    hydrated(page)
    page.evaluate("window.stayed = true")

    replace(index, "## Two", "## Three")
    expect(page.locator("h2")).to_contain_text("Three")
    expect(page.locator("nav.side")).to_have_text("Three")
    replace(project / "code/x.py", "x = 1", "x = 42")
    expect(page.locator("pre")).to_contain_text("42")
    replace(index, "title: One", "title: First")
    expect(page.locator("b").first).to_have_text("First")
    expect(page).to_have_title("First")

    server.from_now_on()
    replace(index, "(other.md)", "(gone.md)")
    wait_for(server, "pages/guide/index.md:10:1: 'gone.md' leads to no file.")
    replace(index, "(gone.md)", "(other.md)")
    replace(index, "title: First", "titel: First")
    wait_for(server, "'titel' is not a field. Did you mean 'title'?")
    replace(index, "titel: First", "title: Last")
    expect(page.locator("b").first).to_have_text("Last")
    page.click("article a:has-text('To')")
    expect(page.locator("article")).to_have_text("Another.")
    assert page.evaluate("window.stayed")

    page.goto(f"{server.url}/posts")
    hydrated(page)
    page.evaluate("window.stayed = true")
    replace(project / "posts/a.md", "Rain", "Snow")
    expect(page.locator("#posts")).to_have_text("Snow")
    assert page.evaluate("window.stayed")
