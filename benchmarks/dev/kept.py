"""What saves must not take away, and where many of them lead: for fxtrio only."""

from __future__ import annotations

import random
import time

import psutil

from benchmarks.dev.edits import OVERLAY
from benchmarks.dev.fxtrio import PAGE_FILE
from benchmarks.dev.saving import Saving
from benchmarks.dev.server import LONGEST, Running


def check_state(saving: Saving, edits: int) -> dict[str, bool]:
    """Alternate edits of both halves; return what the page and other modules have kept."""
    page = saving.page
    page.click("#count")
    page.fill("#typed", "half a thought")
    page.evaluate("scrollTo(0, 700)")
    before = page.evaluate("performance.timeOrigin")
    for _ in range(edits // 2):
        saving.times("UI text", 1)
        saving.times("loader data", 1)
    return {
        "component state": page.inner_text("#count") == "1",
        "typed text": page.input_value("#typed") == "half a thought",
        "scroll": page.evaluate("scrollY") == 700,
        "module state": page.inner_text("#seen") == "3",
        "same document": page.evaluate("performance.timeOrigin") == before,
    }


def check_burst(saving: Saving) -> dict[str, bool]:
    """Save 20 times within a second; return whether the last text is everywhere."""
    project, page = saving.server.project, saving.page
    text, value = saving.last("UI text"), saving.last("loader data")
    for number in range(1, 11):
        project.edit(PAGE_FILE, f"text {text + number - 1}<", f"text {text + number}<")
        time.sleep(random.uniform(0, 0.04))  # as tools do that write many files
        project.edit(PAGE_FILE, f'"data {value + number - 1}"', f'"data {value + number}"')
    last = f"text {text + 10}", f"data {value + 10}"
    for name, wanted in zip(("text", "data"), last, strict=True):
        page.wait_for_function(f"document.getElementById('{name}').textContent === '{wanted}'")
    give_up = time.monotonic() + LONGEST
    settled = False
    while not settled and time.monotonic() < give_up:
        fresh = page.context.request.get(f"{saving.run.url}/bench").text()
        settled = all(one in fresh for one in last)
    clean = page.evaluate(f"{OVERLAY} === null")
    return {"settled": settled, "no overlay": clean}


def memory(run: Running) -> dict[str, int]:
    """Return the resident memory of each process of a server (MB)."""
    family = psutil.Process(run.process.pid).children(recursive=True)
    return {f"{one.name()} {one.pid}": one.memory_info().rss >> 20 for one in family}
