"""Where a UI half takes its properties: the first parameter of what it exports. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import attrs

from fxtrio.tools.types.ui.source.jsx_positions import UiPlaces

_WORD = r"[A-Za-z_$][\w$]*+"
_TYPES = r"(?:<[^>(]*+>\s*+)?"
_FUNCTION = re.compile(rf"(?:async\s++)?function\s*+(?:\*\s*+)?(?P<name>{_WORD})?\s*+{_TYPES}\(")
_ARROW = re.compile(rf"(?:async\s++)?{_TYPES}\(")
_BARE_ARROW = re.compile(rf"(?:async\s++)?(?P<name>{_WORD})\s*+=>")
_WRAPPED = re.compile(rf"(?:{_WORD}\.)?{_WORD}\s*+{_TYPES}\(\s*+")
_NAME = re.compile(rf"(?P<name>{_WORD})")
_DEFAULT = re.compile(r"export\s++default\s++")
_LIST = re.compile(r"export\s*+\{")
_RENAMED = re.compile(rf"(?<![\w$])(?P<name>{_WORD})\s++as\s++default\b")
_SPACE = re.compile(r"\s*+")
_FUNCTIONS = re.compile(rf"^(?:export\s+)?(?:async\s+)?function\s+(?P<name>{_WORD})", re.MULTILINE)
_VARIABLES = re.compile(
    rf"^(?:export\s++)?(?:const|let|var)\s++(?P<name>{_WORD})\s*+(?=(?P<type>:)|=)", re.MULTILINE
)
_LONGEST_LIST = 10_000  # characters
_DEEPEST = 5


@attrs.frozen
class PropsParameter:
    """The first parameter of a component."""

    start: int
    """Offset of its name or pattern."""

    end: int
    """Offset behind it, before its type."""

    how: Literal["paren", "bare"]
    """Whether parentheses are around it: ``props => …`` has none."""

    typed: bool
    """Whether it has a type of the author's."""


@attrs.frozen
class DefaultExport:
    """What a half exports by default, as far as can be seen."""

    parameter: PropsParameter | None
    name: str
    """Of the component; "" when it has none."""


@attrs.frozen(eq=False)
class Declarations:
    """Where a half declares functions and variables at the beginning of a line: the first of each.

    To search the half for each name would take as many times as long as it has components.
    """

    functions: Mapping[str, re.Match[str]]
    variables: Mapping[str, re.Match[str]]


def read_declarations(text: str) -> Declarations:
    """Return the declarations of a half."""
    functions, variables = (
        {found["name"]: found for found in reversed([*pattern.finditer(text)])}
        for pattern in (_FUNCTIONS, _VARIABLES)
    )
    return Declarations(functions, variables)


def find_default(text: str, places: UiPlaces) -> DefaultExport:
    """Return what a UI half exports by default."""
    declared = read_declarations(text)
    for offset in places.exports:
        found = _DEFAULT.match(text, offset)
        if found is not None:
            return _at(text, places, declared, found.end(), 0)
        renamed = _renamed(text, offset)
        if renamed is not None:
            return _named(text, places, declared, renamed["name"], 0)
    return DefaultExport(None, "")


def find_named(text: str, places: UiPlaces, declared: Declarations, name: str) -> DefaultExport:
    """Return the same of what a half calls ``name``, if that is a function."""
    return _named(text, places, declared, name, 0)


def _renamed(text: str, offset: int) -> re.Match[str] | None:
    """Return the name that a list of exports at ``offset`` exports by default."""
    found = _LIST.match(text, offset)
    if found is None:
        return None
    end = text.find("}", found.end(), found.end() + _LONGEST_LIST)
    return _RENAMED.search(text, found.end(), end) if end >= 0 else None


def _at(
    text: str, places: UiPlaces, declared: Declarations, offset: int, depth: int
) -> DefaultExport:
    """Return the component of an expression."""
    if depth > _DEEPEST or text.startswith("class", offset):
        return DefaultExport(None, "")
    found = _FUNCTION.match(text, offset)
    if found is not None:
        return DefaultExport(_first(text, places, found.end() - 1), found["name"] or "")
    found = _ARROW.match(text, offset)
    if found is not None:
        close = places.pairs.get(found.end() - 1)
        if close is not None and re.match(r"\)\s*(?::[^=]*)?=>", text[close:]):
            return DefaultExport(_first(text, places, found.end() - 1), "")
        return _at(text, places, declared, found.end(), depth + 1)
    found = _BARE_ARROW.match(text, offset)
    if found is not None:
        parameter = PropsParameter(found.start("name"), found.end("name"), "bare", typed=False)
        return DefaultExport(parameter, "")
    found = _WRAPPED.match(text, offset)
    if found is not None:
        inner = _at(text, places, declared, found.end(), depth + 1)
        return DefaultExport(inner.parameter, "")
    found = _NAME.match(text, offset)
    if found is None:
        return DefaultExport(None, "")
    return _named(text, places, declared, found["name"], depth + 1)


def _named(
    text: str, places: UiPlaces, declared: Declarations, name: str, depth: int
) -> DefaultExport:
    """Return the component ``name`` of the half."""
    found = declared.functions.get(name)
    if found is not None:
        start = text.find("function", found.start())
        return attrs.evolve(_at(text, places, declared, start, depth + 1), name=name)
    found = declared.variables.get(name)
    equals = text.find("=", found.end()) if found is not None else -1
    value = _SPACE.match(text, equals + 1)
    if found is None or equals < 0 or value is None:
        return DefaultExport(None, "")
    inner = _at(text, places, declared, value.end(), depth + 1)
    if found["type"] and inner.parameter is not None:
        inner = attrs.evolve(inner, parameter=attrs.evolve(inner.parameter, typed=True))
    return attrs.evolve(inner, name=name)


def _first(text: str, places: UiPlaces, paren: int) -> PropsParameter | None:
    """Return the first parameter behind the parenthesis at ``paren``."""
    close = places.pairs.get(paren)
    start = paren + 1 + len(re.match(r"(?:\s|/\*.*?\*/)*", text[paren + 1 :], re.DOTALL)[0])  # type: ignore[index]  # it matches nothing, too
    if close is None or start >= close:
        return None
    if text[start] in "{[":
        end = places.pairs.get(start, close) + 1
    else:
        word = _NAME.match(text, start)
        if word is None:
            return None
        end = word.end()
    rest = text[end:close].lstrip()
    if rest[:1] not in ("", ",", ":", "=", "?"):
        return None
    return PropsParameter(start, end, "paren", typed=rest[:1] in (":", "?"))
