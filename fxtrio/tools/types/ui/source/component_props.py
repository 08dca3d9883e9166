"""Components whose tags are all known: what they get is what these pass. Pure.

They are declared in a half and stand in its tags only, or they are exported by a file of which all
importers are known. TypeScript infers no parameters from calls. So the type of each passed value
is requested, by a comment that it cannot satisfy, and the component is read once more with the
types that the complaints name. A value of different types, or of one that cannot be written, is
any.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import attrs

from fxtrio.tools.types.report.compiler import Diagnostic
from fxtrio.tools.types.ui.source.component_imports import without_exports, without_imports
from fxtrio.tools.types.ui.source.default_export import (
    PropsParameter,
    find_default,
    find_named,
    read_declarations,
)
from fxtrio.tools.types.ui.source.jsx_positions import Element, UiPlaces

PROBE = "/** @satisfies {never} */ ("
"""The text inserted in front of a value; ``)`` follows it."""

_PROBED = 1360
_ANSWER = re.compile(r"Type '(.+)' does not satisfy the expected type 'never'\.")
_VALUE = re.compile(r"[A-Za-z_$][\w$.?!\[\]()\"']*+")
_TOKEN = re.compile(r"\"[^\"\n]*+\"|[A-Za-z_$][\w$]*+(\??:)?|-?[0-9.]+|[\[\]{}|&<>,;: ()]")
_PLAIN = frozenset({"string", "number", "boolean", "null", "undefined", "any", "true", "false"})
_GENERIC = frozenset({"Record", "Array"})
_EMPTY = ("null", "undefined")
_NEXT = re.compile(r"^(?:export|function|const|let|var|class|async)\b", re.MULTILINE)
_TAKEN = re.compile(r"[A-Za-z_$][\w$]*+(?=\s*+(?:$|[:=]))")
KeysOf = Callable[[str], Sequence[str] | None]
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
    uses: tuple[Use, ...]
    """What each tag passes."""

    pattern: Mapping[str, bool] | None = None
    """The names that its parameter takes, and whether each has a default; None when it may take
    any."""

    end: int = 0
    """Offset behind the component."""


@attrs.frozen
class Use:
    """A tag."""

    offset: int
    passed: tuple[Passed, ...]
    """What it passes; what it spreads has the name `SPREAD`."""


SPREAD = "..."
REFUTED = "(any)"
"""The type of a property that a component passes to itself, and that is not what others pass."""


def own_components(
    text: str, places: UiPlaces, exports: Mapping[str, str] | None = None
) -> tuple[OwnComponent, ...]:
    """Return the components that are declared in a half, and stand nowhere but in its tags.

    ``exports`` are what a file exports, see `exported_names`: that is used elsewhere, too.
    """
    tags = _tags(places)
    names = [*tags, *(one for one in (exports or {}).values() if one[:1].isupper())]
    private = text if exports is None else without_exports(text)
    declared = read_declarations(private if exports is not None else text)
    found = []
    for name in dict.fromkeys(names):
        parameter = find_named(private, places, declared, name).parameter
        if parameter is None or parameter.typed or _is_used_otherwise(private, name):
            continue
        found.append(_component(name, parameter, tags.get(name, ()), text, places))
    if exports is not None and exports.get("default") == "":
        parameter = find_default(text, places).parameter
        if parameter is not None and not parameter.typed:
            found.append(_component("default", parameter, (), text, places))
    return tuple(found)


def _tags(places: UiPlaces) -> dict[str, list[Element]]:
    tags: dict[str, list[Element]] = {}
    for element in places.elements:
        if element.name[:1].isupper() and "." not in element.name:
            tags.setdefault(element.name, []).append(element)
    return tags


def _component(
    name: str, parameter: PropsParameter, tags: Iterable[Element], text: str, places: UiPlaces
) -> OwnComponent:
    uses = tuple(Use(one.offset, tuple(_passed(text, places, one))) for one in tags)
    next_one = _NEXT.search(text, parameter.end)
    end = next_one.start() if next_one is not None else len(text)
    return OwnComponent(name, parameter, uses, _taken_names(text, parameter), end)


@attrs.frozen(eq=False)
class ImportedTags:
    """The tags of components that a half imports; each is looked for once."""

    text: str
    places: UiPlaces
    _known: dict[str, tuple[Use, ...] | None] = attrs.field(factory=dict)

    def of(self, name: str) -> tuple[Use, ...] | None:
        """Return the tags of a component; None when the half uses it otherwise."""
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def _find(self, name: str) -> tuple[Use, ...] | None:
        if not name[:1].isupper() or _is_used_otherwise(self._rest, name, declared=0):
            return None
        return tuple(
            Use(one.offset, tuple(_passed(self.text, self.places, one)))
            for one in self._tags.get(name, ())
        )

    @cached_property
    def _rest(self) -> str:
        return without_imports(self.text)

    @cached_property
    def _tags(self) -> dict[str, list[Element]]:
        return _tags(self.places)


def _taken_names(text: str, parameter: PropsParameter) -> Mapping[str, bool] | None:
    """Return the names that a pattern takes, and whether each has a default."""
    if text[parameter.start] != "{":
        return None
    names: dict[str, bool] = {}
    depth, start = 0, parameter.start + 1
    for index in range(start, parameter.end):
        char = text[index]
        depth += (char in "{[(") - (char in "}])")
        if depth < 0 or (char == "," and depth == 0):
            one = text[start:index].strip()
            name = _TAKEN.match(one)
            if one and name is None:
                return None  # the rest, or a comment
            if name is not None:
                names[name[0]] = "=" in one
            start = index + 1
    return names


def _is_used_otherwise(text: str, name: str, declared: int = 1) -> bool:
    """Whether a name stands somewhere else than in tags and where it is declared."""
    expected, declared = declared, 0
    start = text.find(name)
    while start >= 0:
        before, after = text[start - 1 : start], text[start + len(name) : start + len(name) + 1]
        if not any(char.isalnum() or char in "_$" for char in before + after):
            line = text[text.rfind("\n", 0, start) + 1 : start]
            if line.strip() in ("function", "const"):
                if _has_types_in_front(text[: start - len(line)]):
                    return True
                declared += 1
            elif before != "<" and not text.endswith("</", 0, start):
                return True
        start = text.find(name, start + len(name))
    return declared != expected


def _has_types_in_front(text: str) -> bool:
    """Whether a text ends with a comment that may have types."""
    return text.rstrip().endswith("*/") and "@" in text[text.rfind("/*") :]


def _passed(text: str, places: UiPlaces, element: Element) -> Iterator[Passed]:
    for opening in element.spread_offsets:
        start = text.find("...", opening) + len("...")
        end = places.pairs.get(opening, -1)
        value = _VALUE.match(text, start, end) if end >= 0 else None
        has_value = value is not None and value.end() == end
        yield Passed(SPREAD, start, end) if has_value else Passed(SPREAD, 0, 0)
    for one in element.attributes:
        if one.name == "key":
            continue
        opening = text.find("{", one.offset)
        is_value = one.value is None and text[one.offset + len(one.name) : opening].strip() == "="
        end = places.pairs.get(opening, -1) if is_value else -1
        value = _VALUE.match(text, opening + 1, end) if end >= 0 else None
        has_value = value is not None and value.end() == end and value[0] not in _PLAIN
        yield Passed(one.name, opening + 1, end) if has_value else Passed(one.name, 0, 0)


def probes(uses: Iterable[Use]) -> Iterator[tuple[int, str]]:
    """Yield insertions into a half that make the compiler report the types of values."""
    for use in uses:
        for passed in use.passed:
            if passed.end:
                yield passed.start, PROBE
                yield passed.end, ")"


def answer_of(found: Diagnostic) -> str:
    """Return the type in the complaint about an inserted call; "" for other complaints."""
    answer = _ANSWER.match(found.message) if found.code == _PROBED else None
    return answer[1] if answer is not None else ""


Answers = Mapping[int, str]
"""Types of values by their offset, as they are written in other files; "" for unknown ones."""


def props_of(
    component: OwnComponent, uses: Iterable[tuple[Use, Answers]], before: str, keys_of: KeysOf
) -> str:
    """Return the type of what a component gets, as far as it is known; "" for nothing.

    ``before`` is what has been returned the last time. ``keys_of`` returns the keys of a type.
    """
    listed = list(uses)
    spread, keys = _spread_in(listed, keys_of)
    if spread is None:
        return ""
    names = dict.fromkeys(one.name for use, _ in listed for one in use.passed)
    taken = component.pattern
    members: list[str] = []
    known = [one for one in names if one != SPREAD and one.isidentifier()]
    for name in known:
        if name in keys or (taken is not None and name not in taken):
            continue
        text = _type_of_prop(name, component, listed, before)
        optional = not all(any(one.name == name for one in use.passed) for use, _ in listed)
        if text:
            members.append(f"{name}{'?' if optional else ''}: {text}")
        elif _was_guessed(name, before):
            members.append(f"{name}?: {REFUTED}")
        elif taken is not None:
            members.append(f"{name}?: any")
    if taken is None:
        members.append("[more: string]: any")
    others = [one for one in taken or {} if one not in known and one not in keys]
    members += [f"{one}?: any" for one in others if not _is_misspelt(one, component, keys)]
    written = f"{{ {'; '.join(members)} }}"
    return f"{spread} & {written}" if spread else written if known else ""


def _type_of_prop(
    name: str, component: OwnComponent, uses: Iterable[tuple[Use, Answers]], before: str
) -> str:
    types = []
    for use, answers in uses:
        inside = component.parameter.start < use.offset < component.end
        for one in use.passed:
            if one.name == name:
                answer = answers.get(one.start, "")
                # What is passed to itself is unknown as long as what it gets is unknown.
                if answer or not inside or _was_guessed(name, before):
                    types.append(answer)
    return _joined(types)


def _was_guessed(name: str, before: str) -> bool:
    """Whether a property had a type the last time, or was found to have none of those guessed."""
    return f"{name}: (" in before or f"{name}?: (" in before


def _is_misspelt(name: str, component: OwnComponent, known: Sequence[str]) -> bool:
    """Whether a name that a component takes, and no tag passes, looks like one that some pass."""
    has_default = (component.pattern or {}).get(name, True)
    passed = [one for one in known if one not in (component.pattern or {})]
    return not has_default and bool(difflib.get_close_matches(name, passed, n=1))


def _spread_in(
    uses: Sequence[tuple[Use, Answers]], keys_of: KeysOf
) -> tuple[str | None, Sequence[str]]:
    """Return the one type that all tags spread, and its keys; None when it is not known."""
    spread = [
        answers.get(one.start, "")
        for use, answers in uses
        for one in use.passed
        if one.name == SPREAD
    ]
    if not spread:
        return "", ()
    keys = keys_of(spread[0]) if len(spread) == len(uses) and len({*spread}) == 1 else None
    return (spread[0], keys) if spread[0] and keys is not None else (None, ())


def _joined(types: Iterable[str]) -> str:
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
    return " | ".join([f"({text})", *empty]) if text else ""


def written(text: str, names: Mapping[str, str]) -> str:
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
