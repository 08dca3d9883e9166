"""Runs all validators of an attrs class, and words their errors for users.

attrs stops at the first invalid field, and its messages name the field and the value, which
the user who filled in the form sees anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

import attrs
import cattrs

from fxtrio.serve.request.model.bounded_structuring import expected


def validation_errors(
    kind: Any, value: Mapping[str, Any], converter: cattrs.BaseConverter, broken: Collection[str]
) -> list[Exception]:
    """Run the validators of every field of ``kind`` that has a value of the right type.

    ``broken`` are the fields without one. A validator that reads such a field reports
    nothing; it runs after that field is valid. Returns errors with cattrs' notes.
    """
    instance = object.__new__(kind)
    held: list[attrs.Attribute[Any]] = []
    errors: list[Exception] = []

    def attempt(field: attrs.Attribute[Any], item: Any, work: Callable[[], object]) -> bool:
        try:
            work()
        except Exception as error:  # converters and validators are application code
            if not (isinstance(error, AttributeError) and error.obj is instance):
                message = ValueError(_user_message(error, field, item))
                message.add_note(cattrs.AttributeValidationNote("", field.name, field.type))
                errors.append(message)
            return False
        return True

    for field in attrs.fields(attrs.resolve_types(kind)):
        if field.init and field.name not in broken:
            fill = _filler(instance, field, value, converter)
            if fill is not None and attempt(field, value.get(field.name), fill):
                held.append(field)
    for field in held:
        if field.validator is not None:
            item = getattr(instance, field.name)
            attempt(field, item, partial(field.validator, instance, field, item))
    return errors


def _filler(
    instance: Any,
    field: attrs.Attribute[Any],
    value: Mapping[str, Any],
    converter: cattrs.BaseConverter,
) -> Callable[[], None] | None:
    """Return a setter that fills a field as ``__init__`` would; None without a value."""
    if field.name not in value and field.default is attrs.NOTHING:
        return None

    default: Any = field.default
    convert: Any = field.converter

    def fill() -> None:
        if field.name in value:
            item = converter.structure(value[field.name], Any if field.type is None else field.type)
        elif hasattr(default, "takes_self"):  # attrs.Factory is a function to type checkers
            item = default.factory(instance) if default.takes_self else default.factory()
        else:
            item = default
        if convert is not None:
            more = (instance, field) if hasattr(convert, "takes_self") else ()  # attrs.Converter
            item = convert(item, *more)
        object.__setattr__(instance, field.name, item)

    return fill


def _user_message(error: Exception, field: attrs.Attribute[Any], value: Any) -> str:
    """Return a validator's message; attrs' own messages without the field and the value."""
    text = str(error.args[0]) if error.args else ""
    for begin, message in (
        (f"'{field.name}' must ", "Must "),
        (f"Length of '{field.name}' must ", "Length must "),
    ):
        if not text.startswith(begin):
            continue
        if isinstance(error, TypeError) and isinstance(error.args[-2], type):  # instance_of
            return str(expected(error.args[-2]))
        rest = text.removeprefix(begin).partition(" (got ")[0]
        suffixes = [f": {value}", f" ({value!r} doesn't)"]
        if hasattr(value, "__len__"):
            suffixes.append(f": {len(value)}")
        for suffix in suffixes:
            rest = rest.removesuffix(suffix)
        if rest.startswith(("be in (", "be in [", "be in {")):
            return f"Expected one of {rest[7:-1].rstrip(',')}"
        return message + rest
    return text
