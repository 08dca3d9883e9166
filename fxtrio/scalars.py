"""Values of other libraries' types as Python's own: numpy, pandas, and subclasses of str or float.

Nothing is imported for it: a value is known by what it has. Called by the encoder for types that
it does not know.
"""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from typing import Any

_ABSENT = ("NaTType", "NAType")
"""Types of what stands for no value in pandas."""

_NUMBERS = ("f", "m", "M")
"""Kinds of numpy that have a value which is none: floats, durations and times."""


def own_value(value: Any) -> object:
    """Return the str, int, float, bool, date, datetime or timedelta that a value is.

    Raises NotImplementedError for all else, and for numbers and times that are none, such as NaN.
    """
    own = _own(value)
    if type(own) is type(value) or (isinstance(own, float) and not math.isfinite(own)):
        raise NotImplementedError
    return own


def _own(value: Any) -> object:
    if type(value).__name__ in _ABSENT:
        raise NotImplementedError
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, datetime):
        return datetime.combine(value.date(), value.timetz())
    if isinstance(value, date):
        return date(value.year, value.month, value.day)
    if isinstance(value, timedelta):
        return timedelta(value.days, value.seconds, value.microseconds)
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind is None or getattr(value, "shape", None) != ():
        raise NotImplementedError
    if kind == "f":  # `item` of the longest is no float
        return float(value)
    if kind in "mM":  # of nanoseconds `item` would be a number
        value = value.astype(f"{kind}8[us]")
    own: object = value.item()
    if own is None:  # a time that is none
        raise NotImplementedError
    return own


def remedy_for(value: object) -> str:
    """Return what to do about a value that JSON cannot hold; "" when nothing special is known.

    It ends in a full stop.
    """
    if type(value).__name__ in _ABSENT or _is_no_number(value):
        return "Return None where there is no value."
    for condition, call in (
        (hasattr(value, "to_dicts"), "to_dicts()"),
        (hasattr(value, "to_dict") and hasattr(value, "columns"), "to_dict('records')"),
        (hasattr(value, "tolist") and getattr(value, "shape", ()) != (), "tolist()"),
        (hasattr(value, "to_list"), "to_list()"),
    ):
        if condition:
            return f"Return its .{call}."
    return ""


def _is_no_number(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    return getattr(getattr(value, "dtype", None), "kind", "") in _NUMBERS and value.shape == ()
