"""The built-in pages about errors are accessible, and fit on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from fxtrio.develop.report.error_app import failure_document
from fxtrio.serve.pages.html.document import error_document
from tests.e2e.accessible import assert_accessible
from tests.e2e.support import visit

LONG = "a_name_without_a_place_to_break_" * 20
TRACE = f'Traceback (most recent call last):\n  File "/srv/{LONG}.py", line 1\nKeyError: 1'
PAGES = {
    "production": error_document(404, f"No page at /{LONG}.", home="/", reference="0f" * 16),
    "development": error_document(500, f"KeyError: {LONG}", details=TRACE, reference="0f" * 16),
    "fx dev without an app": failure_document(f"app.py cannot be imported: {LONG}", TRACE).encode(),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_about_an_error_is_accessible(browser: Browser, name: str) -> None:
    page = visit(browser).page
    page.set_content(PAGES[name].decode())

    assert_accessible(page)
