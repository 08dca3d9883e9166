"""What an action came to."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

from fxtrio.errors import Redirect
from fxtrio.serve.request.response.error_response import Refused


class Succeeded(msgspec.Struct, frozen=True):
    """The action returned; ``result`` has neither sentinel nor background shorthand."""

    result: dict[str, Any]
    invalidated: list[str]


class NotRun(msgspec.Struct, frozen=True):
    """The action was not run: a hook, the proof of origin or the body stood against it."""

    refusal: Refused
    admitted: bool
    """Whether the hooks had let the request pass."""


Result = Succeeded | Refused | Redirect | Response
