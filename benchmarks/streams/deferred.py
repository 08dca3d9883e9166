"""How soon a page is interactive while a deferred value takes three seconds."""

from __future__ import annotations

import statistics
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks.streams.site import served
from tests.e2e.support import CHROMIUM, CHROMIUM_FLAGS

ROUNDS = 5


def deferred(root: Path) -> str:
    """Load a page whose value of 30,000 items comes after 3 s, with an enforced CSP."""
    with served(root, FX_CSP="enforce") as site, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=[*CHROMIUM_FLAGS])
        url = f"http://127.0.0.1:{site.port}/slow"
        _load(browser, url)  # what is loaded at the first request
        found = [_load(browser, url) for _ in range(ROUNDS)]
        browser.close()
    interactive, visible, errors = zip(*found, strict=True)
    return (
        f"interactive after {statistics.median(interactive):.0f} ms, "
        f"longest {max(interactive):.0f}; the value is on screen after "
        f"{statistics.median(visible):.0f} ms; {sum(errors)} errors in {ROUNDS} loads"
    )


def _load(browser: Browser, url: str) -> tuple[float, float, int]:
    """Return when the page was interactive and its value shown (ms), and how many errors it had."""
    context = browser.new_context()
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    page.goto(url, wait_until="commit")
    interactive = page.locator("body[data-interactive]").get_attribute("data-interactive")
    page.get_by_role("button").click()
    page.get_by_text("1 clicks").wait_for()
    visible_at = page.locator("body[data-shown]").get_attribute("data-shown")
    assert page.locator("li").count() == 30_000
    assert page.get_by_text("1 clicks").is_visible()
    context.close()
    return float(interactive or "nan"), float(visible_at or "nan"), len(errors)
