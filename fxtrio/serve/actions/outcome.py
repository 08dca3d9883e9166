"""What an action came to."""

from __future__ import annotations

from typing import Any

import attrs
from starlette.responses import Response

from fxtrio.errors import Redirect
from fxtrio.serve.request.refusal import Refused


@attrs.frozen
class Succeeded:
    """The action returned; ``result`` has neither sentinel nor background shorthand."""

    result: dict[str, Any]
    invalidated: list[str]


Result = Succeeded | Refused | Redirect | Response
