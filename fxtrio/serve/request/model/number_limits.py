"""Limits for the numbers of typed bodies: JSON must contain them, and arithmetic stays cheap.

Python parses ``nan``, ``inf`` and ``1e400`` as floats. One of them in the data of a page
is an error each time that the page is rendered, so all are rejected.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from fxtrio.serve.request.model.bounded_structuring import expected

_LONGEST = 308
"""Digits of a decimal number, and the greatest power of ten, as of a float (count)."""


def finite(value: float) -> float:
    """Return ``value``. Raises ValueError when it is infinite or no number."""
    if not math.isfinite(value):
        raise expected(float)
    return value


def decimal(value: Any, _: Any) -> Decimal:
    """Return text or a number as a Decimal. Raises ValueError, also for ``1e999999999``."""
    if isinstance(value, float):
        value = repr(value)
    if isinstance(value, bool) or not isinstance(value, (str, int, Decimal)):
        raise expected(Decimal)
    if isinstance(value, str) and len(value) > 2 * _LONGEST:
        raise expected(Decimal)
    try:
        number = Decimal(value)
    except InvalidOperation:
        raise expected(Decimal) from None
    if _is_unsupported(number):
        raise expected(Decimal)
    return number


def unsupported_numbers(value: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of numbers that `finite` or `decimal` would reject, in order.

    Looks into lists, objects, pydantic models, attrs and data classes.
    """
    if isinstance(value, (float, Decimal)):
        if _is_unsupported(value):
            yield path
        return
    if value is None or isinstance(value, (str, int, bytes)):
        return
    if isinstance(value, Mapping):
        inside: Any = value.items()
    elif isinstance(value, (list, tuple, set, frozenset)):
        inside = enumerate(value)
    elif hasattr(value, "__dict__"):
        extra = getattr(value, "__pydantic_extra__", None) or {}
        inside = [*vars(value).items(), *extra.items()]
    else:
        return
    for step, item in inside:
        if item is not None and not isinstance(item, (str, int)):
            yield from unsupported_numbers(item, f"{path}.{step}" if path else str(step))


def _is_unsupported(number: float | Decimal) -> bool:
    if isinstance(number, float):
        return not math.isfinite(number)
    if not number.is_finite():
        return True
    return abs(number.adjusted()) > _LONGEST or len(number.as_tuple().digits) > _LONGEST
