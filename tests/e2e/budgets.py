"""What each page of the documentation site keeps to: small, still, accessible, without scripts."""

from __future__ import annotations

import gzip

from playwright.sync_api import Browser, Response

from tests.e2e.accessible import assert_accessible
from tests.e2e.support import visit

LARGEST = 5000
"""Most that the HTML of a page has (bytes of gzip)."""

SHIFT = """
window.shift = 0;
new PerformanceObserver((all) => all.getEntries().forEach(({ value }) => (window.shift += value)))
  .observe({ type: "layout-shift", buffered: true });
"""


def zipped(body: bytes) -> int:
    return len(gzip.compress(body, 9))


def assert_light(browser: Browser, url: str) -> None:
    """Open a page, scroll to its end, and look at all that it did."""
    tab = visit(browser).page
    tab.add_init_script(SHIFT)
    failed: list[str] = []
    scripts: list[str] = []

    def note(response: Response) -> None:
        if response.status >= 400:
            failed.append(response.url)
        if response.request.resource_type == "script":
            scripts.append(response.url)

    tab.on("response", note)
    tab.goto(url)
    tab.evaluate("scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
    tab.wait_for_load_state("networkidle")
    shift = tab.evaluate("window.shift")
    assert_accessible(tab)

    assert failed == [], failed
    assert scripts == [], scripts
    assert shift == 0, shift
    tab.context.close()
