"""What a call of an action came to."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from starlette.responses import Response

from fxtrio.errors import Redirect
from fxtrio.serve.request.response.error_response import ErrorResponse


class Succeeded(msgspec.Struct, frozen=True):
    """The action returned; ``result`` has neither sentinel nor background shorthand."""

    result: dict[str, Any]
    invalidated: list[str]


class Rejected(msgspec.Struct, frozen=True):
    """The action was not run: a hook, the CSRF check or the body stood against it."""

    rejection: ErrorResponse
    admitted: bool
    """Whether the hooks had let the request pass."""


class Disconnected(msgspec.Struct, frozen=True):
    """The client left before there was anything to answer."""


DISCONNECTED: Final = Disconnected()


class Sent(msgspec.Struct, frozen=True):
    """The response is complete: its values were sent while the action ran."""


SENT: Final = Sent()

Result = Succeeded | ErrorResponse | Redirect | Response
"""What an action came to that was run, or in whose place a hook answered."""

Outcome = Result | Rejected | Disconnected | Sent
