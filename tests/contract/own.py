"""What an application may define itself under the names of the runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

server = action = invalidate_routes = "mine"
used: list[str] = []


def mark(function: Callable[..., Any]) -> Callable[..., Any]:
    used[:] = ["own"]
    return function


class LoaderError(Exception):
    pass


class ActionError(Exception):
    pass


class ValidationActionError(Exception):
    pass
