"""What `isinstance` says of the other classes that an object may be of."""

from __future__ import annotations

import enum
import itertools
import types
from datetime import date, datetime, timedelta
from decimal import Decimal
from types import NoneType
from typing import Any

import attrs

from fxtrio.tools.types.inference.narrowing import is_instance
from fxtrio.tools.types.inference.values import Known


def test_classes_are_apart_only_if_no_class_can_inherit_from_both() -> None:
    @attrs.define
    class Slotted:
        name: str

    class Plain:
        pass

    class Color(enum.Enum):
        RED = "red"

    kinds: list[Any] = [str, int, bool, list, dict, tuple, set, bytes, date, datetime, timedelta]
    kinds += [Decimal, KeyError, ValueError, NoneType, Slotted, Plain, Color]
    for one, other in itertools.permutations(kinds, 2):
        try:
            types.new_class("Both", (one, other))
        except TypeError:
            possible = issubclass(one, other) or issubclass(other, one)
        else:
            possible = True
        found = is_instance(Known(one), (other,))
        assert found is (True if issubclass(one, other) else None if possible else False), one


def test_an_annotated_float_may_be_an_int() -> None:
    assert is_instance(Known(float), (int,)) is None
    assert is_instance(Known(float), (float,)) is None
    assert is_instance(Known(float), (float, int)) is True
    assert is_instance(Known(complex), (float,)) is None
    assert is_instance(Known(float), (str,)) is False
