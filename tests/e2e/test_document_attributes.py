"""Attributes of ``html`` and ``body`` in a real browser: by request, and retained on navigation."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.docs.pages import DOCS, blocks
from tests.e2e.support import Server, fx, served, serving, visit
from tests.ports import free_port
from tests.trees import write_tree

SITE = {
    "fx.config.json": '{"csp": "enforce", "lang": "fr"}',
    "pages/layout.fxl": """
        HEAD = '<link rel="icon" href="data:,"><html class="font" data-theme="light">'

        import { useEffect, useState } from "react";
        import { Link } from "fx/client";

        export default function Layout({ children }) {
          const [alive, setAlive] = useState(false);
          useEffect(() => setAlive(true), []);
          return (
            <>
              {alive && <i>alive</i>}
              <Link href="/">home</Link> <Link href="/de">de</Link> <Link href="/late">late</Link>
              {children}
            </>
          );
        }
    """,
    "pages/index.fxl": """
        import { useState } from "react";
        import { Head } from "fx/client";

        export default function Home() {
          const [wide, setWide] = useState(false);
          return (
            <main>
              <Head>
                <html className="font home" />
                <body className={wide ? "wide" : "narrow"} />
              </Head>
              <h1>home</h1>
              <button onClick={() => setWide(true)}>wide</button>
            </main>
          );
        }
    """,
    "pages/de.fxl": """
        def HEAD(data):
            theme = data["theme"]
            return f'<html lang="de" data-theme="{theme}"><body style="color: rgb(1, 2, 3)">'

        @server
        async def load(request):
            theme = request.cookies.get("theme", "light")
            return {"theme": "dark" if theme == "dark" else "light"}

        export default () => <h1>de</h1>;
    """,
    "pages/late/loading.fxl": """
        export default () => <p>soon</p>;
    """,
    "pages/late/index.fxl": """
        HEAD = '<html lang="ar" dir="rtl"><body data-late="yes">'

        @server
        async def load(request):
            return {"words": "later"}

        export default ({ data }) => <h1>{data.words}</h1>;
    """,
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = write_tree(tmp_path_factory.mktemp("attributes"), SITE)
    fx("build", cwd=project)
    return project


@pytest.fixture(scope="module")
def server(built: Path) -> Iterator[Server]:
    with served(built) as running:
        yield running


def attributes(page: Page, tag: str) -> dict[str, str]:
    found: dict[str, str] = page.evaluate(
        """tag => Object.fromEntries([...document.querySelector(tag).attributes]
            .filter(({ name }) => !['data-fx-head', 'tabindex'].includes(name))
            .map(({ name, value }) => [name, value]))""",
        tag,
    )
    return found


def test_a_document_comes_with_them(server: Server) -> None:
    dark = httpx.get(f"{server.url}/de", headers={"cookie": "theme=dark"}).text
    opening = dark[: dark.index("<head>")]
    assert 'lang="de"' in opening
    assert 'class="font"' in opening
    assert 'data-theme="dark"' in opening
    assert '<body data-fx-head="style" style="color: rgb(1, 2, 3)">' in dark
    document = httpx.get(f"{server.url}/late").text
    opening = document[: document.index("<head>")]
    assert 'lang="ar"' in opening
    assert 'dir="rtl"' in opening
    assert '<body data-fx-head="data-late" data-late="yes">' in document
    assert "<script" not in httpx.get(f"{server.url}/").text.split("<head>", 1)[0]


def test_navigation_takes_them_along(browser: Browser, server: Server) -> None:
    visitor = visit(browser)
    page = visitor.page
    page.context.add_cookies([{"name": "theme", "value": "dark", "url": server.url}])
    page.goto(server.url)
    expect(page.get_by_text("alive")).to_be_visible()
    light = {"class": "font home", "data-theme": "light", "lang": "fr"}
    assert attributes(page, "html") == light
    assert attributes(page, "body") == {"class": "narrow"}
    page.get_by_role("button", name="wide").click()
    expect(page.locator("body")).to_have_class("wide")

    page.evaluate("document.body.classList.add('of-a-library')")
    page.get_by_role("link", name="de").click()
    expect(page.locator("h1")).to_have_text("de")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    assert attributes(page, "html") == {"class": "font", "data-theme": "dark", "lang": "de"}
    assert attributes(page, "body") == {"class": "of-a-library", "style": "color: rgb(1, 2, 3);"}

    page.get_by_role("link", name="late").click()
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    page.get_by_role("link", name="home").click()
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    assert attributes(page, "html") == light
    assert attributes(page, "body")["class"].split() == ["of-a-library", "narrow"]
    assert visitor.complaints == []


def test_what_a_script_has_set_is_left_alone(browser: Browser, server: Server) -> None:
    page = visit(browser).page
    page.goto(f"{server.url}/de")
    page.evaluate("document.documentElement.dataset.theme = 'sepia'")
    expect(page.get_by_text("alive")).to_be_visible()
    page.get_by_role("link", name="home").click()
    expect(page.locator("h1")).to_have_text("home")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    assert attributes(page, "html")["data-theme"] == "sepia"


def test_a_save_reaches_the_open_page(browser: Browser, tmp_path: Path) -> None:
    project = write_tree(tmp_path, {**SITE, "fx.config.json": '{"lang": "fr"}'})
    port = free_port()
    command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)]
    with serving(command, project, port) as server:
        page = visit(browser).page
        page.goto(f"{server.url}/de")
        expect(page.locator("h1")).to_have_text("de")
        expect(page.get_by_text("alive")).to_be_visible()
        page.evaluate("window.marker = 1")
        file = project / "pages/de.fxl"
        file.write_text(file.read_text().replace('lang="de"', 'lang="de-AT"'))
        expect(page.locator("html")).to_have_attribute("lang", "de-AT")
        file.write_text(file.read_text().replace('lang="de-AT" ', ""))
        expect(page.locator("html")).to_have_attribute("lang", "fr")
        (project / "fx.config.json").write_text('{"lang": "it"}')
        expect(page.locator("html")).to_have_attribute("lang", "it")
        assert page.evaluate("window.marker") == 1
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(30)


def test_the_guide_to_a_dark_mode_holds_in_browsers(browser: Browser, tmp_path: Path) -> None:
    for block in blocks(DOCS / "guides/dark-mode.md"):
        if block.file:
            (tmp_path / block.file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.file).write_text(block.text, "utf-8")
    (tmp_path / "fx.config.json").write_text('{"csp": "enforce"}')
    fx("build", cwd=tmp_path)
    with served(tmp_path) as server:
        for javascript in (True, False):
            visitor = visit(browser, javascript=javascript)
            page = visitor.page
            page.goto(server.url)
            dark = page.get_by_role("button", name="Dark")
            dark.click()
            expect(page.locator("html")).to_have_attribute("data-theme", "dark")
            expect(dark).to_have_attribute("aria-pressed", "true")
            expect(page.locator("body")).to_have_css("background-color", "rgb(20, 22, 26)")
            page.get_by_role("button", name="System").click()
            expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")
            assert page.url == f"{server.url}/"
            complaints = [each for each in visitor.complaints if "favicon" not in each]
            assert [each for each in complaints if "404" not in each] == []
