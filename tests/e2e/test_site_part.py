"""A few pages of the documentation site, which stand for all: `test_site.py` has the whole."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.e2e.budgets import LARGEST, assert_light, zipped
from tests.e2e.support import REPOSITORY, fx, read_text, served

DOCUMENTS = ("examples", "guides/actions", "guides/types")
"""One with pictures, one with much code, one with tabs."""

PREPARE = """
import sys
from pathlib import Path

from build import prepare

prepare(Path(sys.argv[1]), only=sys.argv[2:])
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a build of the site with three pages of its documentation; gives its URL."""
    project = tmp_path_factory.mktemp("site") / "project"
    command = [sys.executable, "-c", PREPARE, str(project), *(f"{name}.md" for name in DOCUMENTS)]
    subprocess.run(command, cwd=REPOSITORY / "docs/site", check=True, timeout=60)
    fx("build", cwd=project)
    with served(project) as server:
        yield server.url


@pytest.mark.parametrize("path", ["/", *(f"/docs/{name}" for name in DOCUMENTS)])
def test_a_page_keeps_to_the_budgets_of_the_site(site: str, browser: Browser, path: str) -> None:
    html = read_text(site + path)
    markdown = read_text(f"{site}{path}.md") if path != "/" else ""

    assert "<h1" in html
    assert not markdown.startswith("<")  # that would be an error page
    assert zipped(html.encode()) <= LARGEST
    assert_light(browser, site + path)
