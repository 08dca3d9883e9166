"""What a page's WebSocket sends to its client, by the annotation ``ws: WebSocket[Message]``.

The client gets JSON objects and arrays parsed, and any other text and bytes as they are
(`decodeFrame` in `fxtrio/js/client/live/reconnect.js`).
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterator
from typing import Any

from fxtrio.tools.types.python.annotations import Shaper
from fxtrio.tools.types.python.shapes import (
    Constant,
    ListShape,
    ObjectShape,
    Plain,
    RecordShape,
    Shape,
    TupleShape,
    UnknownType,
    parts_of,
    union,
)

FRAME = Plain("string", "frame")
"""Bytes as a browser gets them."""

_REMEDY = "Write 'ws: WebSocket[Message]', with WebSocket of fx.realtime and a TypedDict for each"
_PARSED = re.compile(r"\s*[\[{]")
_OBJECTS = (ListShape, ObjectShape, RecordShape, TupleShape)


def message_shape(annotation: Any, shaper: Shaper) -> Shape:
    """Return what the messages are, by the annotation of the handler's parameter."""
    # Heavy, and few projects have WebSockets.
    from fxtrio.realtime.typed_socket import WebSocket

    arguments = typing.get_args(annotation)
    if typing.get_origin(annotation) is not WebSocket or not arguments:
        return UnknownType("websocket() does not say what it sends", remedy=_REMEDY)
    return union(_arriving(part, shaper) for part in _parts(arguments[0]))


def _parts(annotation: Any) -> Iterator[Any]:
    """Yield the alternatives of an annotation."""
    if hasattr(annotation, "__value__") and type(annotation).__name__ == "TypeAliasType":
        yield from _parts(annotation.__value__)
    elif typing.get_origin(annotation) in (typing.Union, types.UnionType):
        for part in typing.get_args(annotation):
            yield from _parts(part)
    else:
        yield annotation


def _arriving(annotation: Any, shaper: Shaper) -> Shape:
    if annotation in (bytes, bytearray, memoryview):
        return FRAME
    shape = shaper.shape(annotation)
    if isinstance(shape, UnknownType) or isinstance(shaper.definitions.resolve(shape), _OBJECTS):
        return shape
    return union(map(_text, parts_of(shape)))


def _text(shape: Shape) -> Shape:
    """Return a text as it arrives; nothing else that is no object or list can be sent."""
    if isinstance(shape, Constant) and isinstance(shape.value, str):
        if not _PARSED.match(shape.value):
            return shape
    elif not isinstance(shape, Plain) or shape.kind != "string":
        return UnknownType(
            "websocket() declares that it sends something other than a dict, list, text or bytes",
            remedy=_REMEDY,
        )
    return UnknownType(
        "text that is JSON arrives parsed", remedy="Send a dict, or name the text: Literal"
    )
