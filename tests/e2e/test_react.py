"""Every export of React, in a built app whose policy is enforced: one page for each.

A page is server-rendered, comes to life, does what it is for, and is left by a navigation, to
the next one. `tests/e2e/react/components/cases.jsx` has the cases.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from itertools import filterfalse
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route

from fxtrio.compile.bundling.installation import toolchain_folder
from tests.e2e.support import Server, Visitor, fx, served, visit

PACKAGES = {"react": "react", "react-dom": "react-dom", "react-dom/client": "react-dom.client"}
"""Modules that pages import, and what their cases begin with."""

EXPECTED = {"element.errorBoundary": "broken on purpose"}
"""What the console says of a case that works: React prints errors that boundaries catch."""

PLAIN_HOOK = re.compile(r"react\.use(?!Id|ActionState)[A-Z]")
"""A hook of which a stream is no other than a whole page."""

ACT = """
    async ([name, next]) => {
      const find = (id) => document.getElementById(id);
      const until = async (what, check) => {
        for (const end = performance.now() + 30000; !check(); ) {
          if (performance.now() > end) throw new Error(`${what}: ${find("fx-root").innerHTML}`);
          await new Promise((resolve) => setTimeout(resolve, 4));
        }
      };
      const shows = (title) => document.querySelector("h1")?.textContent === title;
      const lives = () => Object.keys(find("act") ?? {}).some((key) => key.startsWith("__react"));
      const act = async (title) => {
        await until(`${title} does not come to life`, () => shows(title) && lives());
        let pressed = 0;
        await until(`${title} is not done`, () => {
          const done = find("seen")?.textContent === "done";
          if (!done && performance.now() - pressed > 200) {
            find("act").click();
            pressed = performance.now();
          }
          return done;
        });
      };
      await act(name);
      if (next === "") return;
      window.sameDocument = name;
      find("next").click();
      await act(next);
      if (window.sameDocument !== name) throw new Error("another document was loaded");
    }
"""
"""Press the button of a case, and of the next one after a navigation to it."""

STYLE = re.compile(r"<style.*?</style>")
BARE = re.compile(r"<script(?![^>]*\s(?:src|nonce)=)(?![^>]*application/json)[^>]*>")
"""An inline script without a nonce."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    here = Path(__file__).with_name("react")
    project = Path(shutil.copytree(here, tmp_path_factory.mktemp("react") / "react"))
    fx("build", cwd=project)
    with served(project) as server:
        yield server


@pytest.fixture(scope="module")
def names(site: Server) -> list[str]:
    with urllib.request.urlopen(site.url, timeout=60) as response:
        html = response.read().decode()
    [found] = re.findall("<pre>(.*)</pre>", html)
    return str(found).split()


def exports() -> set[str]:
    """Return what the packages export, in development and in production, as cases are named."""
    found = set()
    for mode in ("production", "development"):
        for package, prefix in PACKAGES.items():
            script = f"console.log(JSON.stringify(Object.keys(require({package!r}))))"
            done = subprocess.run(
                ["node", "-e", script],
                cwd=toolchain_folder(),
                env={**os.environ, "NODE_ENV": mode},
                stdout=subprocess.PIPE,
                check=True,
                timeout=60,
            )
            found |= {f"{prefix}.{name}" for name in json.loads(done.stdout) if name[:2] != "__"}
    return found


def test_every_export_of_react_has_a_page(names: list[str]) -> None:
    prefixes = tuple(PACKAGES.values())
    assert exports() == {name for name in names if name.startswith(prefixes)}


def attempt(visitor: Visitor, url: str, name: str, following: str = "") -> list[str]:
    """Load the page of a case, use it and the ``following`` one; return what went wrong."""
    visitor.complaints.clear()
    response = visitor.page.goto(url, wait_until="commit")
    assert response is not None
    html = response.text()
    wrong = [f"{name}: {script} has no nonce" for script in BARE.findall(STYLE.sub("", html))]
    if 'id="seen">begun<' not in html:
        wrong.append(f"{name}: is not server-rendered")
    try:
        visitor.page.evaluate(ACT, [name, following])
    except Exception as error:  # of another process: all of them are wanted
        wrong.append(f"{name}: {error}")
    expected = tuple(EXPECTED[each] for each in (name, following) if each in EXPECTED)
    return wrong + [
        f"{name}: {complaint}"
        for complaint in visitor.complaints
        if not expected or not any(text in complaint for text in expected)
    ]


def test_every_export_works_in_documents_and_after_navigations(
    site: Server, names: list[str], browser: Browser
) -> None:
    visitor = visit(browser)
    wrong = []
    for name, following in zip(names, [*names[1:], names[0]], strict=True):
        wrong += attempt(visitor, f"{site.url}/whole/{name}", name, following)
    visitor.page.context.close()
    assert not wrong, "\n".join(wrong)


def test_every_export_works_in_a_page_that_is_streamed(
    site: Server, names: list[str], browser: Browser
) -> None:
    visitor = visit(browser)
    wrong = []
    for name in filterfalse(PLAIN_HOOK.match, names):
        wrong += attempt(visitor, f"{site.url}/streamed/{name}", name)
    visitor.page.context.close()
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kind", ["whole", "streamed"])
def test_a_form_that_is_sent_before_the_page_lives_is_not_lost(
    site: Server, browser: Browser, kind: str
) -> None:
    visitor = visit(browser)
    waiting: list[Route] = []
    visitor.page.route("**/_fx/runtime-*.js", lambda route: waiting.append(route))
    visitor.page.goto(f"{site.url}/{kind}/form.action", wait_until="commit")
    visitor.page.locator("[name=word]").wait_for()
    visitor.page.evaluate("document.getElementById('act').click()")
    assert visitor.page.locator("#seen").inner_text() == "begun"
    for route in waiting:
        route.continue_()
    visitor.page.get_by_text("done").wait_for()
    assert visitor.complaints == []
    visitor.page.context.close()
