"""An exported site below a path, in a browser: a host of files, and no request that fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Response, expect

from tests.e2e.support import UNCOMPRESSED, fx, serving_files, visit
from tests.trees import write_tree

LAYOUT = """
HEAD = [
    '<link rel="icon" href="/icon.svg" type="image/svg+xml">',
    '<meta property="og:image" content="/icon.svg">',
]

import './styles.css';
import { Head, Link } from 'fx/client';

const LOGO = <img src="/icon.svg" srcSet="/icon.svg?2 2x" alt="Logo" width="20" height="20" />;

export default function Layout({ children }) {
  return (
    <>
      <Head><title>Docs</title><link rel="alternate" href="/notes.txt" /></Head>
      {LOGO}
      <p dangerouslySetInnerHTML={{ __html: '<a href="/notes.txt">Notes of "/x"</a>' }} />
      <nav>
        <Link href="/">Home</Link> <Link href="/posts/one#part">One</Link>{' '}
        <Link href="/old">Old</Link> <Link href="/about">About</Link>
      </nav>
      {children}
    </>
  );
}
"""
INDEX = """
import { useState } from 'react';
import { useSearchParams } from 'fx/client';

export default function Home() {
  const [count, setCount] = useState(0);
  const query = useSearchParams().get('q') ?? 'nothing';
  return <main><h1>{query}</h1><button onClick={() => setCount(count + 1)}>{count}</button></main>;
}
"""
POST = """
async def paths():
    return [{"slug": "one"}]

@server
async def load(request):
    return {"slug": request.path_params["slug"]}

import { useState } from 'react';

export default function Post({ data }) {
  const [name] = useState('Post');
  return (
    <main>
      <h1 id="part">{`${name} ${data.slug}`}</h1>
      <img src="/icon.svg?post" alt="Post" width="20" height="20" />
      <div dangerouslySetInnerHTML={{ __html: '<img src="/icon.svg?raw" alt="Raw">' }} />
      <a href="/written">Written</a>
    </main>
  );
}
"""
OLD = """
from fx.runtime import redirect

@server
async def load(request):
    return redirect("/about", 308)

export default () => null;
"""
FILES = {
    "fx.config.json": '{"csp": "enforce"}',
    "pages/layout.fxl": LAYOUT,
    "pages/index.fxl": INDEX,
    "pages/posts/[slug].fxl": POST,
    "pages/old.fxl": OLD,
    "pages/styles.css": "nav { background: url('/icon.svg?css'); }",
    "pages/written.md": """---
title: Written
---
# Written

![Icon](/icon.svg?md) and [home](/), <video src="/notes.txt" width="20"></video>
""",
    "public/icon.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
    "public/notes.txt": "notes",
    "pages/about.fxl": "export default () => <main><h1>About</h1></main>;",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URL of a site that is served from its files alone."""
    root: Path = tmp_path_factory.mktemp("export")
    write_tree(root, FILES)
    options = ("--site", "https://example.com", "--base", "/sub")
    fx("export", "www/sub", *options, cwd=root, env=UNCOMPRESSED)
    with serving_files(root / "www") as url:
        yield f"{url}/sub"


def test_pages_come_to_life_and_are_navigated_by_one_request_each(
    site: str, browser: Browser
) -> None:
    visitor = visit(browser)
    tab = visitor.page
    failed: list[str] = []
    data: list[str] = []

    def note(answer: Response) -> None:
        if answer.status >= 400:
            failed.append(answer.url)

    tab.on("requestfailed", lambda request: failed.append(request.url))
    tab.on("response", note)
    tab.goto(f"{site}/?q=tea", wait_until="networkidle")
    expect(tab.get_by_role("heading")).to_have_text("tea")
    tab.get_by_role("button").click()
    expect(tab.get_by_role("button")).to_have_text("1")
    tab.on("request", lambda request: data.append(request.url))
    tab.get_by_role("link", name="One").click()
    expect(tab.get_by_role("heading")).to_have_text("Post one")
    assert tab.url == f"{site}/posts/one#part"
    pages = [url for url in data if not url.endswith(".js") and "/icon.svg" not in url]
    assert pages == [f"{site}/posts/one/__fx.json"]
    tab.reload(wait_until="networkidle")
    expect(tab.get_by_role("heading")).to_have_text("Post one")
    tab.get_by_role("link", name="Old").click()
    expect(tab.get_by_role("heading")).to_have_text("About")
    tab.go_back()
    expect(tab.get_by_role("heading")).to_have_text("Post one")
    assert (failed, visitor.complaints) == ([], [])


def test_paths_of_the_app_have_its_base_in_html_and_after_hydration(
    site: str, browser: Browser
) -> None:
    visitor = visit(browser)
    tab = visitor.page
    loaded: list[str] = []
    tab.on("request", lambda request: loaded.append(request.url.removeprefix(site)))
    tab.goto(f"{site}/posts/one", wait_until="networkidle")
    below = [
        *("/sub/icon.svg", "/sub/icon.svg?2 2x", "/sub/icon.svg", "/sub/icon.svg"),
        *("/sub/notes.txt", "/sub/notes.txt", 'Notes of "/x"', "/sub/written"),
    ]
    paths = """() => [
      logo.getAttribute('src'), logo.getAttribute('srcset'),
      one('link[rel=icon]').getAttribute('href'), one('meta[property]').content,
      one('link[rel=alternate]').getAttribute('href'), one('p a').getAttribute('href'),
      one('p a').textContent, one('main a').getAttribute('href')]"""
    names = "const one = (name) => document.querySelector(name), logo = one('img');"
    assert tab.evaluate(f"() => {{ {names} return ({paths})(); }}") == below
    assert {"/icon.svg?css", "/icon.svg?post", "/icon.svg?raw"} < set(loaded)
    tab.get_by_role("link", name="Written").click()
    expect(tab.get_by_role("heading")).to_have_text("Written")
    tab.wait_for_load_state("networkidle")
    assert {"/icon.svg?md", "/notes.txt"} < set(loaded)
    tab.get_by_role("link", name="One").click()
    expect(tab.get_by_alt_text("Raw")).to_be_visible()
    assert tab.evaluate(f"() => {{ {names} return ({paths})(); }}") == below
    assert visitor.complaints == []


def test_a_page_without_scripts_has_none_and_redirects_lead_to_it(
    site: str, browser: Browser
) -> None:
    visitor = visit(browser)
    loaded: list[str] = []
    visitor.page.goto(f"{site}/old")
    expect(visitor.page.get_by_role("heading")).to_have_text("About")
    visitor.page.on("request", lambda request: loaded.append(request.url))
    visitor.page.goto(f"{site}/about/", wait_until="networkidle")
    assert [url for url in loaded if not re.search(r"\.(svg|css)\b", url)] == [f"{site}/about/"]
    visitor.page.get_by_role("link", name="Home").click()
    expect(visitor.page.get_by_role("heading")).to_have_text("nothing")
    assert visitor.complaints == []
