"""`python -m benchmarks.dev`: from a save to the screen, measured in Chromium.

Each project gets one page more, which is edited; what is measured is the time from before the
write to the frame in which the browser shows it.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import psutil
from playwright.sync_api import Page

from tests.e2e.support import Server, copy_example, free_port, fx, open_browser, serving, visit

PAGE = """from bench_state import SEEN
VALUE = "data 0"


@server
async def load(request):
    return {"value": VALUE, "seen": len(SEEN)}


import { useState } from "react";
import "./bench.css";

export default function Bench({ data }) {
  const [count, setCount] = useState(0);
  return (
    <>
      <h1 id="text">text 0</h1>
      <p id="data">{data.value}</p>
      <p id="seen">{data.seen}</p>
      <button id="count" onClick={() => setCount(count + 1)}>{count}</button>
      <input id="typed" />
      <div style={{ height: "3000px" }} />
    </>
  );
}
"""
STYLE = "#text { color: rgb(0, 0, 0) }\n"
STATE = "SEEN = [1, 2, 3]\n"

WATCH = """(check) => new Promise((resolve) => {
  const test = new Function('return ' + check);
  const look = () => {
    if (!test()) return requestAnimationFrame(look);
    resolve(performance.timeOrigin + performance.now());  // this frame paints it
  };
  look();
})"""


@attrs.frozen
class Project:
    """A project that is edited."""

    root: Path

    def write(self, file: str, text: str) -> None:
        (self.root / file).write_text(text, "utf-8")

    def edit(self, file: str, old: str, new: str) -> None:
        text = (self.root / file).read_text("utf-8")
        assert old in text, (file, old)
        self.write(file, text.replace(old, new, 1))


PAGE_FILE = "pages/bench.fxl"


def measure(page: Page, check: str, save: Callable[[], None]) -> float:
    """Return the time from before ``save`` until ``check`` holds on the screen (ms)."""
    seen = page.evaluate_handle(f"({{ shown: ({WATCH})({json.dumps(check)}) }})")
    began = time.time() * 1000
    save()
    shown: float = seen.evaluate("(box) => box.shown")
    return shown - began


def text_edits(page: Page, project: Project, number: int) -> float:
    return measure(
        page,
        f"document.getElementById('text').textContent === 'text {number}'",
        lambda: project.edit(PAGE_FILE, f"text {number - 1}<", f"text {number}<"),
    )


def data_edits(page: Page, project: Project, number: int) -> float:
    return measure(
        page,
        f"document.getElementById('data').textContent === 'data {number}'",
        lambda: project.edit(PAGE_FILE, f'"data {number - 1}"', f'"data {number}"'),
    )


def style_edits(page: Page, project: Project, number: int) -> float:
    colour = f"rgb({number}, 0, 0)"
    return measure(
        page,
        f"getComputedStyle(document.getElementById('text')).color === '{colour}'",
        lambda: project.write("pages/bench.css", f"#text {{ color: {colour} }}\n"),
    )


OVERLAY = "document.querySelector('fx-overlay')"


def ui_errors(page: Page, project: Project, number: int) -> float:
    return measure(
        page, f"{OVERLAY} !== null", lambda: project.edit(PAGE_FILE, "<input id", "<<input id")
    )


def ui_repairs(page: Page, project: Project, number: int) -> float:
    return measure(
        page, f"{OVERLAY} === null", lambda: project.edit(PAGE_FILE, "<<input id", "<input id")
    )


def python_errors(page: Page, project: Project, number: int) -> float:
    return measure(
        page, f"{OVERLAY} !== null", lambda: project.edit(PAGE_FILE, "VALUE =", "VALUE = 1 / 0 #")
    )


def python_repairs(page: Page, project: Project, number: int) -> float:
    return measure(
        page, f"{OVERLAY} === null", lambda: project.edit(PAGE_FILE, "VALUE = 1 / 0 #", "VALUE =")
    )


def new_pages(page: Page, project: Project, number: int) -> float:
    """A page comes at the URL that another window shows; return when it is there."""
    other = page.context.new_page()
    other.goto(page.url.replace("/bench", f"/fresh{number}"))
    other.wait_for_function("performance.getEntriesByName('fx:ready').length > 0")
    text = f"export default () => <h1 id='fresh'>fresh {number}</h1>;\n"
    took = measure(
        other,
        "document.getElementById('fresh') !== null",
        lambda: project.write(f"pages/fresh{number}.fxl", text),
    )
    other.close()
    return took


WORKS = {
    "UI text": (text_edits,),
    "CSS": (style_edits,),
    "loader data": (data_edits,),
    "UI syntax error shown / gone": (ui_errors, ui_repairs),
    "Python error shown / gone": (python_errors, python_repairs),
    "new page": (new_pages,),
}


@contextmanager
def developed(root: Path) -> Iterator[tuple[Server, Page]]:
    """Run `fx dev`, and show the page that is edited."""
    port = free_port()
    command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)]
    with serving(command, root, port) as server, open_browser() as browser:
        page = visit(browser).page
        page.goto(f"{server.url}/bench")
        page.wait_for_function("performance.getEntriesByName('fx:ready').length > 0")
        yield server, page
        server.process.terminate()
        server.process.wait(20)


def prepare(name: str, folder: Path) -> Project:
    """Copy a project, and add the page."""
    if name == "starter":
        fx("init", "shop", cwd=folder)
        root = folder / "shop"
    else:
        root = copy_example(name, folder)
    project = Project(root)
    project.write(PAGE_FILE, PAGE)
    project.write("pages/bench.css", STYLE)
    project.write("bench_state.py", STATE)
    if not (root / "pages/not-found.fxl").exists():  # what stands where a page comes later
        project.write("pages/not-found.fxl", "export default () => <h1>Not found</h1>;\n")
    return project


def shown(times: list[float]) -> str:
    ordered = sorted(times)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)) - 1)]
    return f"{statistics.median(ordered):5.0f} ({p95:.0f})"


def time_edits(name: str, page: Page, project: Project, edits: int) -> None:
    """Print the median and the 95th percentile of each kind of edit (ms)."""
    for title, works in WORKS.items():
        times: list[list[float]] = [[] for _ in works]
        for number in range(1, edits + 1):
            for work, found in zip(works, times, strict=True):
                found.append(work(page, project, number))
                time.sleep(0.15)  # as a person does, and not while the last one is told
        print(f"{name:10} {title:32} {' / '.join(map(shown, times))}", flush=True)


def check_state(name: str, page: Page, project: Project, edits: int) -> None:
    """Alternate edits of both halves; say what the page and other modules have kept."""
    page.click("#count")
    page.fill("#typed", "half a thought")
    page.evaluate("scrollTo(0, 700)")
    before = page.evaluate("performance.timeOrigin")
    first = int(page.inner_text("#text").split()[1])
    value = int(page.inner_text("#data").split()[1])
    for number in range(1, edits // 2 + 1):
        text_edits(page, project, first + number)
        data_edits(page, project, value + number)
    kept = {
        "component state": page.inner_text("#count") == "1",
        "typed text": page.input_value("#typed") == "half a thought",
        "scroll": page.evaluate("scrollY") == 700,
        "module state": page.inner_text("#seen") == "3",
        "same document": page.evaluate("performance.timeOrigin") == before,
    }
    print(f"{name:10} kept over {edits} edits: {kept}", flush=True)


def check_burst(name: str, server: Server, page: Page, project: Project) -> None:
    """Save 20 times within a second; say whether the last text is everywhere."""
    first = int(page.inner_text("#text").split()[1])
    value = int(page.inner_text("#data").split()[1])
    for number in range(1, 11):
        project.edit(PAGE_FILE, f"text {first + number - 1}<", f"text {first + number}<")
        time.sleep(random.uniform(0, 0.04))
        project.edit(PAGE_FILE, f'"data {value + number - 1}"', f'"data {value + number}"')
    page.wait_for_function(f"document.getElementById('data').textContent==='data {value + 10}'")
    page.wait_for_function(f"document.getElementById('text').textContent==='text {first + 10}'")
    time.sleep(0.5)
    fresh = page.context.request.get(f"{server.url}/bench").text()
    settled = f"text {first + 10}" in fresh and f"data {value + 10}" in fresh
    clean = page.evaluate(f"{OVERLAY} === null")
    print(f"{name:10} 20 saves in a second: settled {settled}, no overlay {clean}", flush=True)


def memory(server: Server) -> dict[str, int]:
    """Return the resident memory of each process below `fx dev` (MB)."""
    family = [*psutil.Process(server.process.pid).children(recursive=True)]
    return {f"{one.name()} {one.pid}": one.memory_info().rss >> 20 for one in family}


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dev")
    parser.add_argument("--edits", type=int, default=30)
    parser.add_argument("--projects", default="starter,notes")
    options = parser.parse_args()
    print(f"{'project':10} {'what is saved':32} save to screen: median (p95), ms")
    for name in options.projects.split(","):
        folder = Path(tempfile.mkdtemp(prefix="fx-bench-dev-"))
        try:
            project = prepare(name, folder)
            with developed(project.root) as (server, page):
                before = memory(server)
                time_edits(name, page, project, options.edits)
                check_state(name, page, project, 50)
                check_burst(name, server, page, project)
                print(f"{name:10} memory (MB) before {before}, after {memory(server)}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
