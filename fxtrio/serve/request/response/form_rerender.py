"""What an endpoint raises to show a page of the app, with what was wrong with its form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from fxtrio.serve.request.response.error_response import Refused

PAGES = "fx.pages"
"""Key of the ASGI scope of a route that may raise `PageAgain`."""


class PageAgain(Exception):
    """Shows the page at ``path`` as after an action named ``name`` that failed.

    The runtime answers with it: for a visitor whom the hooks of the page refuse, and where
    there is no such page, with ``otherwise``.
    """

    def __init__(
        self,
        path: str,
        name: str,
        refusal: Refused,
        *,
        query: str,
        values: Mapping[str, Any],
        otherwise: Response,
    ) -> None:
        super().__init__(refusal.message)
        self.path = path
        """Without the base URL."""

        self.name = name
        self.refusal = refusal
        self.query = query
        """That of the page, encoded, without the question mark."""

        self.values = values
        """What its fields are filled with."""

        self.otherwise = otherwise
