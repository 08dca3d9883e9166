"""What tests in several folders share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, one for all tests of a process: Playwright cannot be started twice in one."""
    from tests.e2e.support import open_browser

    with open_browser() as opened:
        yield opened
