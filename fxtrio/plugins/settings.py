"""The ``settings`` of a plugin: JSON in, an attrs object out, or all errors with their keys.

Pure. cattrs converts values to their types, without converting one JSON type to another;
attributes are validated one by one, since attrs itself stops at the first error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar, get_args, get_origin

import attrs
import cattrs
from cattrs.strategies import configure_union_passthrough

from fxtrio.config.validators import camel, is_literal, one_of, require_kind
from fxtrio.errors import Signal
from fxtrio.nearest import nearest

Settings = TypeVar("Settings")


@attrs.frozen
class Mistake:
    """One thing that is wrong."""

    key: str
    """The path below ``settings``, for example ``hosts.0.port``; empty for all of it."""

    cause: str


class SettingsInvalid(Signal):
    """The settings of one plugin, or a part of them, cannot be used."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        super().__init__("; ".join(f"{each.key}: {each.cause}" for each in mistakes))
        self.mistakes = mistakes


def read_settings(target: type[Settings], raw: object) -> Settings:
    """Return ``raw`` (parsed JSON) as ``target``, an attrs class.

    Keys are the attributes' names in camelCase. Raises SettingsInvalid with all errors.
    """
    try:
        return make_converter().structure(raw, target)
    except Exception as error:
        raise SettingsInvalid(_problems_of(error)) from error


def make_converter() -> cattrs.Converter:
    """Return a converter for settings."""
    converter = cattrs.Converter()
    exact: tuple[tuple[type, tuple[type, ...], str], ...] = (
        (int, (int,), "a whole number"),
        (float, (int, float), "a number"),
        (bool, (bool,), "true or false"),
        (str, (str,), "text"),
    )
    for target, accepted, words in exact:
        converter.register_structure_hook(target, partial(_exactly, accepted, words))
    converter.register_structure_hook_func(is_literal, one_of)
    converter.register_structure_hook_func(_is_list, partial(_list, converter))
    converter.register_structure_hook_func(_is_object, partial(_object, converter))
    configure_union_passthrough(bool | int | float | str | None, converter)
    converter.register_structure_hook_factory(
        attrs.has, lambda target: partial(_section, converter)
    )
    return converter


def _section(converter: cattrs.Converter, raw: object, target: type[Any]) -> Any:
    """Make an attrs object of a JSON object, collecting the mistakes of all attributes."""
    if not isinstance(raw, Mapping):
        raise ValueError(f"must be an object, not {raw!r}")
    attrs.resolve_types(target)
    known = {camel(at.alias or at.name): at for at in attrs.fields(target) if at.init}
    mistakes = [Mistake(str(key), _unknown(str(key), known)) for key in raw if key not in known]
    values: dict[str, Any] = {}
    for key, attribute in known.items():
        if key in raw:
            with _collecting(mistakes, key):
                value = _attribute(converter, attribute, raw[key])
                values[attribute.alias or attribute.name] = value
        elif attribute.default is attrs.NOTHING:
            mistakes.append(Mistake(key, "is not set. Add it"))
    if mistakes:
        raise SettingsInvalid(mistakes)
    return target(**values)


def _attribute(converter: cattrs.Converter, attribute: attrs.Attribute[Any], raw: object) -> Any:
    """Return a value for the class's own ``__init__``, which converts it again."""
    value = raw if attribute.type is None else converter.structure(raw, attribute.type)
    convert, check = attribute.converter, attribute.validator
    # A Converter object may want the instance, which does not exist yet.
    plain = convert is not None and not isinstance(convert, attrs.Converter)
    if check is not None:
        check(None, attribute, convert(value) if plain else value)  # type: ignore[misc,operator]  # see plain
    return value


def _list(converter: cattrs.Converter, raw: object, target: Any) -> Any:
    if not isinstance(raw, list | tuple):
        raise ValueError(f"must be a list, not {raw!r}")
    kind = get_origin(target) or target
    item_type = (*get_args(target), Any)[0]
    return kind(_structured(converter, enumerate(raw), item_type).values())


def _object(converter: cattrs.Converter, raw: object, target: Any) -> Any:
    if not isinstance(raw, Mapping):
        raise ValueError(f"must be an object, not {raw!r}")
    _, value_type = get_args(target) or (Any, Any)
    return _structured(converter, raw.items(), value_type)


def _structured(
    converter: cattrs.Converter, items: Iterable[tuple[Any, Any]], target: Any
) -> dict[Any, Any]:
    mistakes: list[Mistake] = []
    found = {}
    for key, item in items:
        with _collecting(mistakes, str(key)):
            found[key] = converter.structure(item, target)
    if mistakes:
        raise SettingsInvalid(mistakes)
    return found


@contextmanager
def _collecting(mistakes: list[Mistake], key: str) -> Iterator[None]:
    """Turn what the block raises into mistakes of ``key``.

    Converters and validators are the plugin's own code, so it may be anything.
    """
    try:
        yield
    except Exception as error:
        for each in _problems_of(error):
            mistakes.append(Mistake(f"{key}.{each.key}".rstrip("."), each.cause))


def _problems_of(error: Exception) -> list[Mistake]:
    if isinstance(error, SettingsInvalid):
        return error.mistakes
    if isinstance(error, cattrs.BaseValidationError):
        return [each for inner in error.exceptions for each in _problems_of(inner)]
    return [Mistake("", str(error) or type(error).__name__)]


def _unknown(key: str, known: Mapping[str, Any]) -> str:
    by_lower = {name.lower(): name for name in known}
    near = nearest(key.lower(), by_lower)
    if near:
        return f"is not a setting. Did you mean {by_lower[near]!r}?"
    names = ", ".join(sorted(known))
    return f"is not a setting. Known here: {names}." if names else "is not a setting"


def _is_list(target: Any) -> bool:
    kind = get_origin(target) or target
    one_type = kind is not tuple or target is tuple or get_args(target)[1:] == (...,)
    return kind in (list, tuple, set, frozenset) and one_type


def _is_object(target: Any) -> bool:
    return (get_origin(target) or target) is dict


def _exactly(accepted: tuple[type, ...], words: str, raw: object, target: Any) -> Any:
    require_kind(raw, accepted, words)
    return target(raw)
