"""The exception that an endpoint raises to render a page again, with its form's errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from fxtrio.errors import Signal
from fxtrio.serve.request.response.error_response import ErrorResponse

PAGES = "fx.pages"
"""Key of the ASGI scope of a route that may raise `PageAgain`."""


class PageAgain(Signal):
    """Renders the page at ``path`` as after an action named ``name`` that failed.

    If the page's hooks reject the visitor, or there is no such page, the runtime sends
    ``otherwise`` instead.
    """

    def __init__(
        self,
        path: str,
        name: str,
        rejection: ErrorResponse,
        *,
        query: str,
        values: Mapping[str, Any],
        otherwise: Response,
    ) -> None:
        super().__init__(rejection.message)
        self.path = path
        """Without the base URL."""

        self.name = name
        self.rejection = rejection
        self.query = query
        """That of the page, encoded, without the question mark."""

        self.values = values
        """Values for its fields."""

        self.otherwise = otherwise
