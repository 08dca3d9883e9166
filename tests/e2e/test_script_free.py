"""Pages whose code needs no scripts, in a browser: HTML alone, and the same as with scripts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from fxtrio.manifest import load_manifest
from tests.e2e.support import Server, fx, pause, read_text, served, visit
from tests.trees import page, write_tree

LAYOUT = """
import './site.css';
import { Head, Link } from 'fx/client';

export default function Layout({ children }) {
  return (
    <>
      <Head><title>Shop</title></Head>
      <nav>
        <Link href="/">Home</Link> <Link href="/list?kind=b">List</Link>{' '}
        <Link href="/live" prefetch={false}>Live</Link>{' '}
        <Link href="/api/count">Count</Link>
      </nav>
      {children}
    </>
  );
}
"""
LIST = page(
    """
    @server
    async def load(request):
        kind = request.query_params.get("kind", "a")
        print("purpose of", kind, request.headers.get("sec-purpose", "a visit"), flush=True)
        return {"kind": kind, "items": [{"id": n, "text": f"{kind}{n} <&>"} for n in range(3)]}

    @action
    async def add(request):
        if not (await request.json())["text"]:
            raise ActionError("Write something.")
        return {}
    """,
    """
    import { memo, useId } from 'react';
    import { useSearchParams } from 'fx/client';
    const Row = memo(({ item }) => <li>{item.text}</li>);
    export default function List({ data, actionData }) {
      const id = useId();
      const sorted = data.items.toSorted((a, b) => b.id - a.id);
      return (
        <main>
          <h1>{`List ${useSearchParams().get('kind') ?? 'all'}`}</h1>
          <ul>{sorted.map((item) => <Row key={item.id} item={item} />)}</ul>
          <form method="post" action="/api/__actions/list/add">
            <label htmlFor={id}>Text</label><input id={id} name="text" /><button>Add</button>
            <p role="alert">{actionData?.error}</p>
          </form>
        </main>
      );
    }
    """,
)
LIVE = """
import { useState } from 'react';
export default function Live() {
  const [count, setCount] = useState(0);
  return <button onClick={() => setCount(count + 1)}>{`Count ${count}`}</button>;
}
"""
HTML = page(
    """
    @server
    async def load(request):
        return {"html": request.query_params["html"], "depth": [0] * 600}
    """,
    "export default ({ data: { depth, html } }) => (\n"
    "  <main>\n    <p dangerouslySetInnerHTML={{ __html: html }} />\n"
    "    {html === '' && depth.reduce((inner) => <b>{inner}</b>, <i>Deep</i>)}\n  </main>\n);",
)
FAILS = page(
    """
    @server
    async def load(request):
        raise LoaderError("Sold out.", 410)
    """,
    "export default () => null;",
)
FILES = {
    "fx.config.json": '{"csp": "enforce"}',
    "pages/api/count.py": "async def get(request):\n    return {}\n",
    "pages/layout.fxl": LAYOUT,
    "pages/site.css": "body { margin: 0 }",
    "pages/index.fxl": "export default () => <h1>Hello</h1>;",
    "pages/list.fxl": LIST,
    "pages/live.fxl": LIVE,
    "pages/fails.fxl": FAILS,
    "pages/html.fxl": HTML,
    "pages/error.fxl": "export default ({ error }) => <h1>{error.message}</h1>;",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root: Path = tmp_path_factory.mktemp("free")
    write_tree(root, FILES)
    fx("build", cwd=root)
    return root


@pytest.fixture(scope="module")
def site(project: Path) -> Iterator[Server]:
    with served(project) as server:
        yield server


def test_a_page_of_html_is_one_request_without_scripts_and_data(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    loaded: list[str] = []
    visitor.page.on("request", lambda request: loaded.append(request.url))
    visitor.page.goto(site.url, wait_until="networkidle")
    expect(visitor.page.get_by_role("heading")).to_have_text("Hello")
    expect(visitor.page).to_have_title("Shop")
    assert len(loaded) == 2  # with the stylesheet
    scripts = visitor.page.locator("script").evaluate_all("all => all.map((one) => one.type)")
    assert scripts == ["speculationrules"]
    assert visitor.complaints == []


def test_chromium_loads_the_page_of_a_link_that_is_pointed_at(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    tab = visitor.page
    tab.goto(site.url)
    log = site.from_now_on()
    tab.get_by_role("link", name="List").hover()
    while "purpose of b prefetch" not in log.output():
        pause()
    tab.get_by_role("link", name="List").click()
    expect(tab.get_by_role("listitem")).to_have_count(3)
    assert "a visit" not in log.output()
    assert visitor.complaints == []


def test_links_that_shall_not_be_loaded_beforehand_are_not(site: Server) -> None:
    text = read_text(site.url)

    assert '<a data-fx-prefetch="" href="/list?kind=b">' in text
    assert '<a href="/live">' in text
    assert '<a href="/api/count">' in text


def test_links_lead_to_pages_with_scripts_and_back(site: Server, browser: Browser) -> None:
    visitor = visit(browser)
    tab = visitor.page
    tab.goto(site.url)
    tab.get_by_role("link", name="Live").click()
    tab.wait_for_load_state("networkidle")  # a click before the page is alive counts nothing
    tab.get_by_role("button").click()
    expect(tab.get_by_role("button")).to_have_text("Count 1")
    tab.get_by_role("link", name="List").click()
    expect(tab.get_by_role("listitem")).to_have_text(["b2 <&>", "b1 <&>", "b0 <&>"])
    tab.go_back()
    expect(tab.get_by_role("button")).to_be_visible()
    assert visitor.complaints == []


def test_a_form_works_as_a_form(site: Server, browser: Browser) -> None:
    tab = visit(browser).page
    tab.goto(f"{site.url}/list")
    tab.get_by_role("button").click()
    expect(tab.get_by_role("alert")).to_have_text("Write something.")
    tab.get_by_label("Text").fill("more")
    tab.get_by_role("button").click()
    expect(tab).to_have_url(f"{site.url}/list")


def test_an_error_page_of_html_has_no_scripts_either(site: Server) -> None:
    text = read_text(f"{site.url}/fails")

    assert "<h1>Sold out.</h1>" in text
    assert '<script type="module"' not in text


def test_html_that_browsers_would_rearrange_brings_the_scripts(
    site: Server, browser: Browser
) -> None:
    well_formed = read_text(f"{site.url}/html?html=%3Cb%3EKept%3C/b%3E")
    assert "<p><b>Kept</b></p>" in well_formed
    assert '<script type="module"' not in well_formed

    page = visit(browser).page
    page.goto(f"{site.url}/html?html=%3Ch2%3EMoved%3C/h2%3E")
    expect(page.locator("main > p > h2")).to_have_text("Moved")  # as React has it

    # Browsers put the 513th element elsewhere.
    page.goto(f"{site.url}/html?html=")
    page.wait_for_function(
        "document.querySelectorAll('b b').length === 599 && !!document.querySelector('b > b > i')"
    )

    message = "<h2> in <p> in the HTML of <p>, so the page is sent with its scripts."
    assert f"/html?html=%3Ch2%3EMoved%3C/h2%3E: {message}" in site.output()


def test_scripts_would_change_nothing(project: Path, site: Server, browser: Browser) -> None:
    """The same pages with scripts show the same elements when they have come to life."""
    plain = {path: _rendered(browser, f"{site.url}{path}") for path in ("/", "/list?kind=x")}
    for source in (project / "pages").glob("*.fxl"):
        if source.name == "layout.fxl":
            source.write_text(f"SCRIPTS = 'always'\n\n{source.read_text()}")
    fx("build", cwd=project)
    with served(project) as server:
        assert '<script type="module"' in read_text(server.url)
        for path, rendered in plain.items():
            assert _rendered(browser, f"{server.url}{path}") == rendered


def test_a_page_that_must_have_no_scripts_fails_the_build_with_the_reason(
    tmp_path: Path,
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": f"SCRIPTS = 'none'\n{LIVE}"})

    done = subprocess.run(
        [sys.executable, "-m", "fxtrio", "build"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert done.returncode == 1
    assert "pages/index.fxl:6:18: onClick: needs scripts" in done.stderr
    assert not (tmp_path / ".fx/build").exists()


def _rendered(browser: Browser, url: str) -> str:
    tab = visit(browser).page
    tab.goto(url, wait_until="networkidle")
    text = tab.locator("#fx-root").inner_html()
    tab.close()
    return text.replace(' data-fx-prefetch=""', "")


def test_the_manifest_says_which_views_need_none(project: Path) -> None:
    manifest = load_manifest(project / ".fx/build")

    assert {view.module: view.scripts for view in manifest.views}["pages/live.fxl"]
