"""Reads Hypercorn's source, by which a defect is recognised."""

from __future__ import annotations

import inspect
from typing import Any


def source_of(function: Any) -> str:
    """Return the source of a function or class; "" when there is none to be had."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):  # replaced by something else
        return ""
