"""Typed bodies: parsed values in, an instance of the annotated class or field errors out.

pydantic models validate themselves; attrs and data classes go through cattrs.
The problems of a body are reported together, under paths such as ``items.0.price``, but
no more than `MOST` of them.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from enum import Enum
from itertools import islice
from typing import Any
from uuid import UUID

import attrs
import cattrs
from cattrs.gen import make_dict_structure_fn
from cattrs.preconf.json import make_converter

from fxtrio.errors import ValidationActionError
from fxtrio.serve.request.model.bounded_structuring import (
    MOST,
    expected,
    is_items,
    is_object,
    items_factory,
    object_factory,
)
from fxtrio.serve.request.model.form_structuring import (
    fields_of,
    file_of,
    is_file,
    is_upload,
    upload_factory,
)
from fxtrio.serve.request.model.model_check import require_possible, require_possible_pydantic
from fxtrio.serve.request.model.validators import validation_errors

_LONGEST = 308
"""Digits of a decimal number, and the greatest power of ten, as of a float (count)."""


def finite(value: float) -> float:
    """Return ``value``. Raises ValueError when it is infinite or no number.

    Python parses ``nan``, ``inf`` and ``1e400`` as floats. One of them in the data of a page
    would be an error each time that the page is rendered.
    """
    if not math.isfinite(value):
        raise expected(float)
    return value


def decimal(value: Any, _: Any) -> Decimal:
    """Return text or a number as a Decimal. Raises ValueError, also for ``1e999999999``.

    JSON must contain the numbers of typed bodies, and arithmetic with them stays cheap.
    """
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


ROOT = "__root__"
"""The field path of an error of the body as a whole."""

_LONGEST_UUID = 45
"""``urn:uuid:`` and 36 characters."""

_MOST_OF_PYDANTIC = 1000
"""Problems that pydantic may name, which takes 2 ms (count)."""

Fields = dict[str, list[str]]


@attrs.frozen
class BodyModel:
    """The class a typed body becomes, and how."""

    build: Callable[[Any, bool], Any]
    """``build(value, is_form)`` returns the instance; raises ValidationActionError."""

    optional: bool
    """Whether an empty body is None (``Model | None = None``)."""


def body_model(annotation: object) -> BodyModel | None:
    """Return how bodies become ``annotation``; None when it is no validation model.

    Raises FieldsImpossible for a model that no body can fill.
    """
    optional = False
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        inner = [part for part in typing.get_args(annotation) if part is not type(None)]
        optional = len(inner) < len(typing.get_args(annotation))
        if len(inner) != 1:
            return None
        annotation = inner[0]
    if not isinstance(annotation, type):
        return None
    if hasattr(annotation, "model_validate") and hasattr(annotation, "model_fields"):
        return BodyModel(_pydantic(annotation), optional)
    if attrs.has(annotation) or dataclasses.is_dataclass(annotation):
        return BodyModel(_structured(annotation), optional)
    return None


def invalid(fields: Fields) -> ValidationActionError:
    """Return the error of a body that does not hold."""
    return ValidationActionError(fields=fields)


def _pydantic(model: Any) -> Callable[[Any, bool], Any]:
    from pydantic import ValidationError

    require_possible_pydantic(model)
    fields = fields_of(
        {
            key: field.annotation
            for name, field in model.model_fields.items()
            for key in (name, field.alias or name)
        }
    )

    def build(value: Any, is_form: bool) -> Any:
        try:
            instance = model.model_validate(fields.filled(value) if is_form else value)
        except ValidationError as error:
            count = error.error_count()
            if count > _MOST_OF_PYDANTIC:  # they can only be had all at once
                raise invalid({ROOT: [f"There are {count} problems"]}) from None
            found: Fields = {}
            for problem in error.errors(include_url=False, include_context=False):
                path = ".".join(map(str, problem["loc"])) or ROOT
                message = problem["msg"].removeprefix("Value error, ")
                found.setdefault(path, []).append(message)
            raise invalid(found) from error
        unsupported = [path or ROOT for path in islice(unsupported_numbers(instance), MOST)]
        if unsupported:
            raise invalid({path: [str(expected(float))] for path in unsupported})
        return instance

    return build


def _structured(model: Any) -> Callable[[Any, bool], Any]:
    require_possible(model, _form_converter)
    form_fields = fields_of(typing.get_type_hints(model))

    def build(value: Any, is_form: bool) -> Any:
        if not isinstance(value, Mapping):
            raise invalid({ROOT: ["Expected an object"]})
        try:
            if is_form:
                return _form_converter.structure(form_fields.filled(value), model)
            return _json_converter.structure(value, model)
        except Exception as error:  # validators and converters are application code
            fields: Fields = {}
            _collect(error, "", fields)
            raise invalid(fields) from error

    return build


def _collect(error: BaseException, path: str, fields: Fields) -> None:
    """Add the messages of a cattrs error, and of the errors in its group, by their paths."""
    if isinstance(error, cattrs.BaseValidationError):
        if isinstance(error, cattrs.ForbiddenExtraKeysError):
            for name in sorted(error.extra_fields):
                fields.setdefault(_join(path, name), []).append("Unknown field")
            return
        for inner in error.exceptions:
            _collect(inner, _join(path, _note_of(inner)), fields)
        return
    fields.setdefault(path or ROOT, []).append(_message(error))


def _note_of(error: BaseException) -> str:
    """Return the field name or index that cattrs noted on an error."""
    for note in getattr(error, "__notes__", ()):
        if isinstance(note, cattrs.AttributeValidationNote):
            return note.name
        if isinstance(note, cattrs.IterableValidationNote):
            return str(note.index)
    return ""


def _join(path: str, step: str) -> str:
    return f"{path}.{step}" if path and step else path or step


def _message(error: BaseException) -> str:
    if isinstance(error, KeyError):
        return "Field required"
    if isinstance(error, cattrs.StructureHandlerNotFoundError):
        return "This type of field is not supported"
    text = str(error.args[0]) if error.args else ""
    if " not in literal " in text:
        allowed = text.partition("[")[2].removesuffix("]")
        return f"Expected one of {allowed}"
    return text or "Invalid value"


def _strict(kind: type, accepts: tuple[type, ...]) -> Callable[[Any, Any], Any]:
    """Reject a value of another type: JSON has types, so nothing is converted."""

    def structure(value: Any, _: Any) -> Any:
        if not isinstance(value, accepts) or (isinstance(value, bool) and kind is not bool):
            raise expected(kind)
        try:
            return kind(value)
        except OverflowError:  # a whole number that no float reaches
            raise expected(kind) from None

    return structure


def _from_text(kind: type) -> Callable[[Any, Any], Any]:
    """Convert text to the field's type: all form values are text."""

    def structure(value: Any, _: Any) -> Any:
        try:
            return kind(value)
        except (TypeError, ValueError):
            raise expected(kind) from None

    return structure


def _float_from_text(value: Any, kind: Any) -> float:
    number: float = _as_float(value, kind)
    return finite(number)


def _bool_from_text(value: Any, _: Any) -> bool:
    known = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
    found = known.get(str(value).lower())
    if found is None:
        raise expected(bool)
    return found


def _text(value: Any, _: Any) -> str:
    if not isinstance(value, str):
        raise expected(str)
    return value


def _enum(value: Any, kind: Any) -> Any:
    """Find the member by its value, or by the text of its value."""
    for member in kind:
        if member.value == value or str(member.value) == value:
            return member
    choices = ", ".join(repr(member.value) for member in kind)
    raise ValueError(f"Expected one of {choices}")


def _is_class(kind: Any) -> bool:
    origin = typing.get_origin(kind) or kind
    return isinstance(origin, type) and (attrs.has(origin) or dataclasses.is_dataclass(origin))


def _class_factory(kind: Any, converter: cattrs.BaseConverter) -> Callable[[Any, Any], Any]:
    """Reject all but objects, and run the validators of all fields, not only of the first."""
    _resolve(typing.get_origin(kind) or kind)
    inner = make_dict_structure_fn(kind, converter, _cattrs_detailed_validation=True)

    def structure(value: Any, kind: Any) -> Any:
        if not isinstance(value, Mapping):
            raise expected(dict)
        try:
            return inner(value, kind)
        except cattrs.ClassValidationError as error:
            # With a note it is a field of the wrong type; without, a validator said no.
            broken = {_note_of(inner): inner for inner in error.exceptions if _note_of(inner)}
            rejected = validation_errors(kind, value, converter, broken) if attrs.has(kind) else []
            if rejected:
                problems = [*broken.values(), *rejected]
                raise cattrs.ClassValidationError(str(error), problems, kind) from error
            raise

    return structure


def _resolve(model: Any) -> None:
    """Put classes in place of their names in annotations such as ``list["Node"]``."""
    if attrs.has(model):
        attrs.resolve_types(model)
        return
    hints = typing.get_type_hints(model, include_extras=True)
    for field in dataclasses.fields(model):
        field.type = hints[field.name]


def _converter(hooks: Mapping[type, Callable[[Any, Any], Any]]) -> cattrs.Converter:
    converter = make_converter(detailed_validation=True)
    converter.register_structure_hook_factory(is_items, items_factory)
    converter.register_structure_hook_factory(is_object, object_factory)
    converter.register_structure_hook_factory(_is_class, _class_factory)
    converter.register_structure_hook_factory(is_upload, upload_factory)
    converter.register_structure_hook_func(is_file, file_of)
    for kind, hook in hooks.items():
        converter.register_structure_hook(kind, hook)
    for kind in (date, datetime, time):
        converter.register_structure_hook(kind, _moment)
    converter.register_structure_hook(Decimal, decimal)
    converter.register_structure_hook(UUID, _uuid)
    converter.register_structure_hook_func(
        lambda kind: isinstance(kind, type) and issubclass(kind, Enum), _enum
    )
    return converter


def _uuid(value: Any, _: Any) -> UUID:
    if not isinstance(value, str) or len(value) > _LONGEST_UUID:
        raise expected(UUID)
    try:
        return UUID(value)
    except ValueError:
        raise expected(UUID) from None


def _moment(value: Any, kind: Any) -> Any:
    try:
        return kind.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError(f"Expected a {kind.__name__} in ISO 8601 form") from None


_as_float = _from_text(float)
_json_converter = _converter(
    {
        bool: _strict(bool, (bool,)),
        int: _strict(int, (int,)),
        float: _strict(float, (int, float)),
        str: _text,
    }
)
_form_converter = _converter(
    {bool: _bool_from_text, int: _from_text(int), float: _float_from_text, str: _text}
)


def forget_models() -> None:
    """Forget all classes that bodies have become, which are found again when they are used.

    cattrs keeps each class for ever, and with it the module of a page that was imported anew.
    """
    for converter in (_json_converter, _form_converter):
        # To register a hook is the public way to empty what a converter remembers.
        converter.register_structure_hook(UUID, _uuid)
