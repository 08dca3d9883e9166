"""Components of a half that nobody else uses: what they get is what its tags pass. Pure.

TypeScript infers no parameters from calls. So the type of each passed value is requested, by
a comment that it cannot satisfy, and the component is read once more with the types that the
complaints name. A value of different types, or of one that cannot be written, is any.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import attrs

from fxtrio.tools.types.report.compiler import Diagnostic
from fxtrio.tools.types.ui.source.default_export import (
    PropsParameter,
    find_named,
    read_declarations,
)
from fxtrio.tools.types.ui.source.jsx_positions import Element, UiPlaces

PROBE = "/** @satisfies {never} */ ("
"""The text inserted in front of a value; ``)`` follows it."""

_ASKED = 1360
_ANSWER = re.compile(r"Type '(.+)' does not satisfy the expected type 'never'\.")
_VALUE = re.compile(r"[A-Za-z_$][\w$.?!\[\]()\"']*+")
_TOKEN = re.compile(r"\"[^\"\n]*+\"|[A-Za-z_$][\w$]*+(\??:)?|-?[0-9.]+|[\[\]{}|&<>,;: ()]")
_PLAIN = frozenset({"string", "number", "boolean", "null", "undefined", "any", "true", "false"})
_GENERIC = frozenset({"Record", "Array"})
_EMPTY = ("null", "undefined")
_LONGEST = 2000
"""Characters of a type."""


@attrs.frozen
class Passed:
    """A value in a tag."""

    name: str
    """Of the property."""

    start: int
    end: int
    """Offsets of the expression; both 0 when its type is not needed."""


@attrs.frozen
class OwnComponent:
    """A component without types of the author's."""

    name: str
    parameter: PropsParameter
    uses: tuple[tuple[Passed, ...], ...]
    """What each tag passes."""


def own_components(text: str, places: UiPlaces) -> tuple[OwnComponent, ...]:
    """Return the components that are declared in a half, and stand nowhere but in its tags."""
    tags: dict[str, list[Element]] = {}
    for element in places.elements:
        if element.name[:1].isupper() and "." not in element.name:
            tags.setdefault(element.name, []).append(element)
    found = []
    declared = read_declarations(text)
    for name, elements in tags.items():
        parameter = find_named(text, places, declared, name).parameter
        if parameter is None or parameter.typed or _is_used_otherwise(text, name):
            continue
        if any(one.spreads for one in elements):
            continue
        uses = tuple(tuple(_passed(text, places, one)) for one in elements)
        found.append(OwnComponent(name, parameter, uses))
    return tuple(found)


def _is_used_otherwise(text: str, name: str) -> bool:
    """Whether a name stands somewhere else than in tags and where it is declared, once."""
    declared = 0
    start = text.find(name)
    while start >= 0:
        before, after = text[start - 1 : start], text[start + len(name) : start + len(name) + 1]
        if not any(char.isalnum() or char in "_$" for char in before + after):
            line = text[text.rfind("\n", 0, start) + 1 : start]
            if line.strip() in ("function", "const"):
                if text[: start - len(line)].rstrip().endswith("*/"):
                    return True  # which may have types in the comment
                declared += 1
            elif before != "<" and not text.endswith("</", 0, start):
                return True
        start = text.find(name, start + len(name))
    return declared != 1


def _passed(text: str, places: UiPlaces, element: Element) -> Iterator[Passed]:
    for one in element.attributes:
        if one.name == "key":
            continue
        opening = text.find("{", one.offset)
        is_value = one.value is None and text[one.offset + len(one.name) : opening].strip() == "="
        end = places.pairs.get(opening, -1) if is_value else -1
        value = _VALUE.match(text, opening + 1, end) if end >= 0 else None
        has_value = value is not None and value.end() == end and value[0] not in _PLAIN
        yield Passed(one.name, opening + 1, end) if has_value else Passed(one.name, 0, 0)


def probes(components: Iterable[OwnComponent]) -> Iterator[tuple[int, str]]:
    """Yield insertions into a half that make the compiler report the types of values."""
    for passed in _asked(components):
        yield passed.start, PROBE
        yield passed.end, ")"


def _asked(components: Iterable[OwnComponent]) -> Iterator[Passed]:
    for component in components:
        for use in component.uses:
            for passed in use:
                if passed.end:
                    yield passed


def answer_of(found: Diagnostic) -> str:
    """Return the type in the complaint about an inserted call; "" for other complaints."""
    answer = _ANSWER.match(found.message) if found.code == _ASKED else None
    return answer[1] if answer is not None else ""


def props_of(
    components: Iterable[OwnComponent], answers: Mapping[int, str], names: Mapping[str, str]
) -> dict[str, str]:
    """Return the types of what components get, as far as they are known.

    ``answers`` are the types of values by their offset; ``names`` how the classes that they
    mention are written.
    """
    found = {}
    for component in components:
        keys = []
        for name in dict.fromkeys(one.name for use in component.uses for one in use):
            passed = [[one for one in use if one.name == name] for use in component.uses]
            types = [answers.get(one.start, "any") for use in passed for one in use]
            text = _joined(types, names)
            if text and name.isidentifier():
                keys.append(f"{name}{'' if all(passed) else '?'}: {text}")
        if keys:
            found[component.name] = f"{{ {'; '.join(keys)}; [more: string]: any }}"
    return found


def _joined(types: Iterable[str], names: Mapping[str, str]) -> str:
    """Return the one type of several values, or "" when there is none."""
    whole, empty = dict[str, None](), dict[str, None]()
    for one in types:
        rest = one
        while rest.endswith((" | null", " | undefined")):
            rest, _, last = rest.rpartition(" | ")
            empty[last] = None
        (empty if rest in _EMPTY else whole)[rest] = None
    if len(whole) != 1:
        return ""
    (text,) = whole
    written = _written(text, names)
    return " | ".join([f"({written})", *empty]) if written else ""


def _written(text: str, names: Mapping[str, str]) -> str:
    """Return a type with its classes' names as they are written; "" when it cannot be."""
    remaining, at = [], 0
    while at < len(text) <= _LONGEST:
        token = _TOKEN.match(text, at)
        if token is None:
            return ""
        word = token[0]
        is_word = (word[0].isalpha() or word[0] in "_$") and token[1] is None
        if is_word and word not in _PLAIN and word not in _GENERIC:
            if word not in names:
                return ""
            word = names[word]
        remaining.append(word)
        at = token.end()
    return "".join(remaining) if remaining and remaining != ["any"] else ""
