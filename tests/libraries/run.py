"""One project with a page for each library, used in a browser as visitors do."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx
from playwright.sync_api import Browser, Error, Page

from tests.docs.pages import DOCS, blocks
from tests.e2e.support import Server, fx, open_browser, served, serving, visit
from tests.libraries.catalogue import SITE, Library
from tests.ports import free_port

MODES: Final = ("build", "dev")

_LONGEST_MS: Final = 20_000
"""How long one step in the browser may take."""

PRESS = """
    () => {
      const act = document.getElementById("act");
      const lives = Object.keys(act ?? {}).some((key) => key.startsWith("__react"));
      if (document.getElementById("seen")?.textContent === "done") return true;
      if (lives && performance.now() - (window.pressed ?? 0) > 1000) {
        window.pressed = performance.now();
        act.click();
      }
      return false;
    }
"""
"""Whether the page has done its work; presses its button, at first and once a second."""

GO = """
    ([id, shows]) => {
      const link = document.getElementById(id);
      const lives = Object.keys(link ?? {}).some((key) => key.startsWith("__react"));
      const isHome = document.querySelector("h1")?.textContent === "Home";
      if (isHome === shows && (shows || document.getElementById("act"))) return true;
      if (lives && window.gone !== id) {
        window.gone = id;
        link.click();
      }
      return false;
    }
"""
"""Whether a link has been followed; presses it once in a document."""

LEFT = """
    async () => {
      const isOwn = ({ id, tagName }) =>
        id.startsWith("fx-") || /^(SCRIPT|STYLE|FX-.*)$/.test(tagName);
      const left = () =>
        [...document.body.children].filter((one) => !isOwn(one) && one.innerHTML !== "");
      const end = performance.now() + 3000;  // what fades out
      while (left().length > 0 && performance.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return left().map((one) => one.outerHTML.slice(0, 200));
    }
"""
"""What the body has beside the app: what a page leaves behind, such as portals."""


def make_project(folder: Path, npm: list[Library], python: list[Library]) -> None:
    """Write the project, with the components that the guide shows, and install its packages.

    It has pages of ``python`` alone: others need packages that may not be there.
    """
    shutil.copytree(SITE, folder, dirs_exist_ok=True)
    chosen = {one.name for one in python}
    for below in ("pages/python", "pages/api"):
        for path in (folder / below).iterdir():
            if path.stem not in chosen and (path.is_dir() or path.suffix == ".fxl"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    for block in blocks(DOCS / "guides/libraries.md"):
        if block.file.startswith("components/"):
            (folder / block.file).write_text(block.text, "utf-8")
    packages = dict(package.rsplit("@", 1) for one in npm for package in one.packages)
    (folder / "package.json").write_text(
        json.dumps({"private": True, "type": "module", "dependencies": packages}, indent=2), "utf-8"
    )
    command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"]
    subprocess.run(command, cwd=folder, check=True, timeout=600)


def run(folder: Path, mode: str, npm: list[Library], python: list[Library]) -> int:
    """Use the libraries; return how many are otherwise than the tables say."""
    failed = 0
    with _serving(folder, mode) as server, open_browser() as browser:

        def tell(kind: str, library: Library, wrong: str) -> None:
            nonlocal failed
            failed += wrong != ""
            print(f"{mode:5} {kind}/{library.name:28} {wrong or 'ok'}", flush=True)

        for one in python:
            tell("python", one, _rendered(server, f"/python/{one.name}", one.shows))
        for one in npm:
            tell("npm", one, _used(browser, server, one, tries=1 if mode == "build" else 3))
    return failed


@contextmanager
def _serving(folder: Path, mode: str) -> Iterator[Server]:
    if mode == "build":
        fx("build", cwd=folder)
        with served(folder) as server:
            yield server
    else:
        port = free_port()
        command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)]
        with serving(command, folder, port) as server:
            yield server


def _rendered(server: Server, path: str, shows: str) -> str:
    """Return what is wrong with the HTML of a page; "" when nothing is."""
    found = httpx.get(f"{server.url}{path}", timeout=60)
    if found.status_code != 200:
        return f"{found.status_code}: {' | '.join(server.output().splitlines()[-8:])}"
    html = found.text.partition('id="__fx_data"')[0]
    return "" if shows in html else f"the server does not show {shows!r}"


def _used(browser: Browser, server: Server, library: Library, *, tries: int) -> str:
    """Return what is wrong with the page of a library; "" when nothing is.

    Vite reloads pages when it meets a package for the first time, so `fx dev` is tried again.
    """
    path = f"/npm/{library.name}"
    if wrong := _rendered(server, path, library.shows):
        return wrong
    visitor = visit(browser)
    try:
        visitor.page.goto(f"{server.url}{path}")
        left = _press_and_go(visitor.page, f"{server.url}/?next={path}")
        visitor.complaints += [f"leaves {one}" for one in left]
    except Error as error:
        visitor.complaints.append(str(error))
    visitor.page.context.close()
    complaints = [one for one in visitor.complaints if not _is_expected(one, library)]
    if complaints and tries > 1:
        return _used(browser, server, library, tries=tries - 1)
    return "; ".join(" ".join(one.split())[:400] for one in complaints)


def _press_and_go(page: Page, home: str) -> list[str]:
    """Use the current page, and once more after a navigation; return what it leaves.

    Raises Error when it does not come to life, does nothing, or is not left.
    """
    page.wait_for_function(PRESS, timeout=_LONGEST_MS)
    page.wait_for_function(GO, arg=["home", True], timeout=_LONGEST_MS)
    left: list[str] = page.evaluate(LEFT)
    page.goto(home)
    page.evaluate("window.sameDocument = true")
    page.wait_for_function(GO, arg=["next", False], timeout=_LONGEST_MS)
    page.wait_for_function(PRESS, timeout=_LONGEST_MS)
    page.wait_for_function(GO, arg=["home", True], timeout=_LONGEST_MS)
    if not page.evaluate("window.sameDocument === true"):
        raise Error("another document was loaded")
    again: list[str] = page.evaluate(LEFT)
    return left + again


def _is_expected(complaint: str, library: Library) -> bool:
    return any(part in complaint for part in library.silent)
