"""Names by which the app and its pages in browsers understand each other.

`fxtrio/js/client/` has them in JavaScript; a test compares.
"""

from __future__ import annotations

from typing import Final

ACTIONS: Final = "/api/__actions/"
"""Where actions are called, behind the base URL: the page's path and the name follow."""

NAVIGATION: Final = b"x-fx-navigation"
"""The header by which the client router asks for the payload instead of the page."""

BUILD_ID: Final = b"x-fx-build"
"""The header of responses that names the build: pages of another one load documents."""
