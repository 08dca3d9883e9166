"""What loaders and actions return, as shapes: by their annotation, or else by their text.

Called by `gather`. A function that is annotated is believed.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterator
from typing import Any

import attrs
from starlette.responses import Response

from fxtrio.errors import Redirect
from fxtrio.types.annotations import Shaper
from fxtrio.types.classes import hints_of
from fxtrio.types.shapes import NOTHING, RecordShape, Shape, Vague, union


@attrs.frozen(eq=False)
class Returned:
    """Finds what the functions of one page return."""

    shaper: Shaper

    def by_loader(self, function: Any) -> Shape:
        """Return the type of ``data``: without the status, and without redirects."""
        return self._value(inspect.unwrap(function), with_status=True)

    def by_action(self, function: Any) -> Shape:
        """Return the type of an action's result, as it is beside ``ok``."""
        return self._value(inspect.unwrap(function), with_status=False)

    def _value(self, function: Any, *, with_status: bool) -> Shape:
        annotation = hints_of(function).get("return", Any)
        parts = list(_values(annotation, with_status=with_status))
        if not parts:
            return NOTHING  # nothing but redirects
        shape = union(map(self.shaper.shape, parts))
        if not isinstance(shape, Vague | RecordShape):
            return shape
        return Vague(
            f"{function.__name__}() does not say what it returns",
            self.shaper.sources.place_of_function(function),
            "Annotate what it returns: a TypedDict, an attrs class, a dataclass",
        )


def _values(annotation: Any, *, with_status: bool) -> Iterator[Any]:
    """Yield what of a return annotation is sent as data."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        for one in arguments:
            yield from _values(one, with_status=with_status)
    elif with_status and origin is tuple and len(arguments) == 2:
        yield arguments[0]
    elif annotation in (typing.NoReturn, typing.Never):
        return
    elif not (isinstance(annotation, type) and issubclass(annotation, (Redirect, Response))):
        yield annotation
