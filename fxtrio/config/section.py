"""What a section of the settings is: a frozen record whose types say how a value is checked.

``Annotated[int, Read(to_bytes), at_least(0)]`` is a whole number that `to_bytes` reads, and that
`at_least` checks. Records of msgspec, because each class of attrs takes half a millisecond of
every start.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, ClassVar, TypeGuard, get_args, get_origin

import msgspec


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A section of the settings, or all of them. Its values have been checked by who reads them."""

    hidden: ClassVar[tuple[str, ...]] = ()
    """Settings that are secrets: no text about the section contains them."""

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Return all settings but hidden ones."""
        visible = (name for name in self.__struct_fields__ if name not in self.hidden)
        return [(name, getattr(self, name)) for name in visible]

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({values})"


class Read(msgspec.Struct, frozen=True):
    """A part of a type: values of this setting are read by ``call``, which raises ValueError."""

    call: Callable[[Any], Any]


class Setting(msgspec.Struct, frozen=True):
    """One setting: a field of a `Section`."""

    name: str
    type: Any
    """Without what `Annotated` adds to it."""

    default: Any
    """`msgspec.NODEFAULT` for a setting that must be set."""

    converter: Callable[[Any], Any] | None
    validator: Callable[[Any, Any, Any], None] | None
    """Called as attrs calls validators: with anything, this object and the value."""


@cache
def settings_of(section: type[Section]) -> dict[str, Setting]:
    """Return the settings of a section by name."""
    return {field.name: _setting(field) for field in msgspec.structs.fields(section)}


@cache
def required(section: type[Section]) -> tuple[str, ...]:
    """Return the names of the settings without a default."""
    found = settings_of(section).values()
    return tuple(one.name for one in found if one.default is msgspec.NODEFAULT)


def is_section(kind: Any) -> TypeGuard[type[Section]]:
    """Whether the type of a setting is a section of its own."""
    return isinstance(kind, type) and issubclass(kind, Section)


def _setting(field: msgspec.structs.FieldInfo) -> Setting:
    kind, rules = field.type, list[Any]()
    if get_origin(kind) is Annotated:
        kind, *rules = get_args(kind)
    default = field.default
    if field.default_factory is not msgspec.NODEFAULT:
        default = field.default_factory()
    return Setting(
        name=field.name,
        type=kind,
        default=default,
        converter=next((rule.call for rule in rules if isinstance(rule, Read)), None),
        validator=next((rule for rule in rules if not isinstance(rule, Read)), None),
    )
