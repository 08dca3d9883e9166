"""Islands in a browser: pages that are HTML but for parts, which come to life alone."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from fxtrio.compile.publish.page_weights import weigh_pages
from fxtrio.manifest import load_manifest
from tests.e2e.islands_site import ISLANDS, SERVED
from tests.e2e.support import UNCOMPRESSED, Server, fx, read_text, served, serving_files, visit
from tests.trees import write_tree


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root: Path = tmp_path_factory.mktemp("islands")
    write_tree(root, SERVED)
    fx("build", cwd=root)
    return root


@pytest.fixture(scope="module")
def site(project: Path) -> Iterator[Server]:
    with served(project) as server:
        yield server


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root: Path = tmp_path_factory.mktemp("islands-export")
    home = "export default () => <p>Home</p>;"
    write_tree(root, {**ISLANDS, "pages/index.fxl": home})
    options = ("--site", "https://example.com", "--base", "/sub")
    fx("export", "www/sub", *options, cwd=root, env=UNCOMPRESSED)
    with serving_files(root / "www") as url:
        yield f"{url}/sub"


def requests_of(page: Page) -> list[str]:
    """Return a list that gets the path of each response."""
    loaded: list[str] = []

    def note(response: Response) -> None:
        loaded.append(re.sub(r"-[\w-]{8}\.js$", ".js", response.url.partition("/_fx/")[2]) or "/")

    page.on("response", note)
    return loaded


def alive(page: Page, *, but: int = 0) -> None:
    """Wait until all islands of a page have come to life, but for some of them."""
    expect(page.locator('[data-fx-island]:not([data-fx-island=""])')).to_have_count(but)


def test_a_page_is_html_until_its_island_is_nearly_visible(site: Server, browser: Browser) -> None:
    visitor = visit(browser)
    page, loaded = visitor.page, requests_of(visitor.page)
    page.goto(f"{site.url}/one", wait_until="networkidle")
    assert loaded == ["/"]
    assert page.locator("script").count() == 2
    text = read_text(f"{site.url}/one")
    script = text[text.index("<script") : text.rindex("</script>")]
    assert len(gzip.compress(script.encode())) < 1000
    button = page.get_by_role("button")
    expect(button).to_have_text("Count 0")

    button.scroll_into_view_if_needed()
    alive(page)
    button.click()
    expect(button).to_have_text("Count 1")

    assert sorted(loaded[1:]) == ["components-counter.js", "islands.js"]
    assert visitor.complaints == []


@pytest.mark.parametrize("kind", ["served", "exported"])
def test_each_island_comes_to_life_alone(
    kind: str, request: pytest.FixtureRequest, browser: Browser
) -> None:
    url = request.getfixturevalue("site").url if kind == "served" else ""
    url = url or request.getfixturevalue("exported")
    visitor = visit(browser)
    page = visitor.page
    page.goto(f"{url}/many")
    alive(page, but=1)
    names = ["First", "Second", "</script><b>", 'Two & "2"', "Inner"]
    starts = [5, 0, 1, 2, 0]
    for name, start in zip(names, starts, strict=True):
        button = page.get_by_role("button", name=name)
        expect(button).to_have_text(f"{name} {start}")
        button.click()
        expect(button).to_have_text(f"{name} {start + 1}")
    for text in ("Text lives", "Nothing lives", "Zero lives"):
        expect(page.get_by_text(text)).to_be_visible()
    cell = page.locator("td.cell").first
    assert cell.evaluate("one => one.parentElement.localName") == "tr"
    ids = page.locator("[id^=_]:not(script)").evaluate_all("all => all.map((one) => one.id)")
    assert len(ids) == len(set(ids)) == 7

    page.evaluate("document.querySelector('[hidden]').hidden = false")
    alive(page)
    page.get_by_role("button", name="Hidden").click()
    expect(page.get_by_role("button", name="Hidden")).to_have_text("Hidden 1")

    page.get_by_role("link", name="One").click()
    expect(page.get_by_role("heading")).to_have_text("One")
    assert visitor.complaints == []


def test_hooks_of_the_client_module_work_in_an_island(site: Server, browser: Browser) -> None:
    visitor = visit(browser)
    page = visitor.page
    page.goto(f"{site.url}/hooks/7?q=a")
    alive(page)
    expect(page.locator("#where")).to_have_text("/hooks/7 7 a idle")
    expect(page.locator("#status")).to_have_text("signed-out with a nonce")
    expect(page.locator("#ticks")).to_have_text("0 1")
    expect(page.locator("section")).to_contain_text("browser")
    expect(page.locator("meta[name=island]")).to_have_attribute("content", "is there")
    assert page.evaluate("window.ran") == 1
    seen = page.get_by_role("heading").inner_text()
    add = page.get_by_role("button", name="Add")
    add.click()
    expect(add).to_have_text("Add tea for 7")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("alert")).to_have_text("Write something.")
    page.get_by_label("Text").fill("milk")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("alert")).to_have_text("milk for 7")
    assert page.get_by_role("heading").inner_text() == seen
    page.get_by_role("button", name="Refresh").click()
    expect(page.get_by_role("heading")).not_to_have_text(seen)
    page.get_by_role("button", name="Go").click()
    expect(page).to_have_url(f"{site.url}/many")
    page.go_back()
    alive(page)
    page.get_by_role("link", name="One").click()
    expect(page).to_have_url(f"{site.url}/one")
    failure = "error: Failed to load resource: the server responded with a status of"
    assert [one for one in visitor.complaints if not one.startswith(failure)] == []


def test_an_island_that_fails_keeps_its_html_and_says_so(site: Server, browser: Browser) -> None:
    visitor = visit(browser)
    page = visitor.page
    page.goto(f"{site.url}/fails")
    alive(page)
    expect(page.get_by_text("Failing stays")).to_be_visible()
    expect(page.get_by_text("of the browser")).to_be_visible()
    later = page.get_by_role("button")
    later.click()
    expect(later).to_have_text("Later 1")
    later.click()
    later.click()
    expect(later).to_have_text("Later 1")

    complaints = "\n".join(visitor.complaints)
    for cause in ("it fails", "it fails later", "error #418"):
        assert re.search(rf"<Island> of /_fx/\S+:[^\n]*{cause}", complaints), complaints


def test_html_of_users_runs_no_scripts_and_takes_the_place_of_no_island(
    site: Server, browser: Browser
) -> None:
    text = read_text(f"{site.url}/forged")
    marks = re.findall(r'data-fx-island="([^"]+)"', text)
    evil = {"when": "load", "module": "/evil.js", "name": "default", "id": "x", "props": {}}
    values = [*marks, "0", json.dumps(evil), json.dumps({**evil, "preload": ["/evil.js"]})]
    forged_data = json.dumps({"mark": "x-", "islands": [evil]})
    forged = "".join(f"<b data-fx-island='{one}'>Text</b>" for one in [*values, "x-0"])
    forged += f"<p id=__fx_given>{forged_data}</p><form id=__fx_islands><input name=push></form>"
    state = {"page": {"id": 0, "module": "/evil.js", "scripts": True, "layouts": []}}
    forged += f"<i id=__fx_data>{json.dumps(state)}</i><i id=fx-root></i>"
    for path, ours in (("forged", "Ours 3"), ("forged-live", "Live 0")):
        visitor = visit(browser)
        page, loaded = visitor.page, requests_of(visitor.page)
        page.goto(f"{site.url}/{path}?html={quote(forged)}")
        expect(page.locator("[data-fx-island]", has_text="Text")).to_have_count(
            len(values) + 1, timeout=5000
        )
        button = page.get_by_role("button", name=ours.split()[0])
        expect(button).to_have_text(ours)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("self.evil") is None
        button.click()
        expect(button).to_have_text(f"{ours[:-1]}{int(ours[-1]) + 1}")
        assert page.locator("b").all_inner_texts() == ["Text"] * (len(values) + 1)
        assert not any("evil" in one for one in loaded)
        assert visitor.complaints == []


def test_a_property_that_is_not_json_is_an_error_with_its_place(site: Server) -> None:
    log = site.from_now_on()

    assert "<h1>" in read_text(f"{site.url}/wrong")

    message = "the property 'at.when' of <Counter> (pages/wrong.fxl:11) is a Map, which is not JSON"
    assert message in log.output()


def test_the_state_of_a_layout_survives_navigations_of_the_router(
    site: Server, browser: Browser
) -> None:
    visitor = visit(browser)
    page, loaded = visitor.page, requests_of(visitor.page)
    page.goto(f"{site.url}/kept/live")
    button = page.get_by_role("button", name="Kept")
    button.click()
    expect(button).to_have_text("Kept 1")
    page.get_by_role("link", name="Plain").click()
    expect(page.get_by_role("heading")).to_have_text("Plain")
    expect(button).to_have_text("Kept 1")
    button.click()
    expect(button).to_have_text("Kept 2")

    page.reload()
    expect(button).to_have_text("Kept 0")
    alive(page)
    loaded.clear()
    button.click()
    expect(button).to_have_text("Kept 1")
    page.get_by_role("link", name="Live").click()
    expect(page.get_by_role("heading")).to_have_text("Live")
    expect(button).to_have_text("Kept 0")  # of another document
    assert loaded[0] == "/"
    assert visitor.complaints == []


def test_without_javascript_the_page_is_whole(site: Server, browser: Browser) -> None:
    page = visit(browser, javascript=False).page
    page.goto(f"{site.url}/many")
    expect(page.get_by_role("button", name="First")).to_have_text("First 5")
    expect(page.get_by_text("Text", exact=True)).to_be_visible()


def test_reports_name_the_islands_and_what_they_load(project: Path) -> None:
    build = project / ".fx/build"
    pages = {one.pattern: one for one in weigh_pages(build, load_manifest(build))}

    one, plain = pages["/one"], pages["/kept/plain"]
    assert one.islands
    assert one.reasons == ("pages/one.fxl:9: <Island when=visible> of components/counter.jsx",)
    assert 60_000 < one.script.gzip < pages["/kept/live"].script.gzip - 10_000
    assert plain.reasons == (
        "pages/kept/layout.fxl:8: <Island when=load> of components/counter.jsx",
    )
    assert pages["/kept/live"].reasons[-1] == "pages/kept/live.fxl:5: onClick"
