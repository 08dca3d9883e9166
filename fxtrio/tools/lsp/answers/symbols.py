"""What stands at a place of a page file: a key, an action, a link. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote, urlsplit

import attrs

from fxtrio.routes.pattern import Kind, Segment, parse_pattern, specificity
from fxtrio.tools.lsp.answers.data_paths import keys_at
from fxtrio.tools.lsp.documents.name_ranges import action_spots, key_spot
from fxtrio.tools.lsp.documents.page import ParsedPage
from fxtrio.tools.lsp.documents.positions import Position, Range
from fxtrio.tools.lsp.processes.ui_analysis import Use
from fxtrio.tools.lsp.project_index import KnownProject
from fxtrio.tools.types.gather.page_types import PageTypes
from fxtrio.tools.types.python.shapes import Key, ObjectShape, Place, Shape, walk

BLANK = "{}"
"""Stands in a link for a part that is known only when it runs."""


@attrs.frozen
class KeyThing:
    """A key of what Python gives to the UI, or takes from it."""

    name: str
    range: Range
    keys: tuple[Key, ...]
    """What it may be: several for a union, none where nothing is known of it."""

    origin: tuple[str, ...] = ()
    """() for one that stands in the Python half."""

    is_variable: bool = False
    """Whether it is a variable that holds the value of the key."""


@attrs.frozen
class ActionThing:
    """The name of an action."""

    name: str
    range: Range
    source: str
    """The page that has it."""


@attrs.frozen
class LinkThing:
    """A link to a page of the app."""

    range: Range
    pattern: str
    source: str


Thing = KeyThing | ActionThing | LinkThing


@attrs.frozen(eq=False)
class Setting:
    """A page file with all that is known around it."""

    page: ParsedPage
    types: PageTypes
    known: KnownProject | None

    @property
    def saved_python(self) -> str | None:
        """The Python half that the types are of."""
        return None if self.known is None else self.known.halves.get(self.page.path)


def thing_at(setting: Setting, uses: Sequence[Use], position: Position) -> Thing | None:
    """Return what stands at a position; None for nothing that crosses the border."""
    for use in uses:
        if covers(use.range, position):
            return thing_of(setting, use)
    return _python_thing(setting, position)


def thing_of(setting: Setting, use: Use) -> Thing | None:
    """Return what a use in the UI half names."""
    if use.kind in ("key", "variable"):
        keys = keys_at(setting.types, use.origin)
        name = use.origin[-1] if use.origin else ""
        return KeyThing(name, use.range, tuple(keys), use.origin, use.kind == "variable")
    if use.kind == "action":
        source = _source_of(setting, use.page)
        return None if source is None else ActionThing(use.name, use.range, source)
    if setting.known is None:
        return None
    sources = setting.known.sources
    pattern = page_of(use.href, sources)
    return None if pattern is None else LinkThing(use.range, pattern, sources[pattern])


def _source_of(setting: Setting, page: str | None) -> str | None:
    """Return the file of the page at the path ``page``; that of the setting itself for None."""
    if page is None:
        return setting.page.path
    if setting.known is None:
        return None
    pattern = page_of(page, setting.known.sources)
    return None if pattern is None else setting.known.sources[pattern]


def _python_thing(setting: Setting, position: Position) -> Thing | None:
    page = setting.page
    for name in page.checked.module.actions:
        for spot in action_spots(page, name):
            if covers(spot.range, position):
                return ActionThing(name, spot.range, page.path)
    found: list[tuple[Key, Range]] = []
    for key in keys_of(setting.types):
        if key.place is not None and key.place.path == page.path:
            spot_of_key = key_spot(key, page.places, setting.saved_python)
            if spot_of_key is not None and covers(spot_of_key.range, position):
                found.append((key, spot_of_key.range))
    if not found:
        return None
    key, range_ = found[0]
    return KeyThing(key.name, range_, tuple(dict.fromkeys(one for one, _ in found)))


def keys_of(types: PageTypes) -> Iterator[Key]:
    """Yield all keys of what a file gives and takes, those inside of classes too."""
    shapes: list[Shape] = [types.data, types.layout_data]
    for action in types.actions:
        known = (action.result, action.value, action.argument)
        shapes += [shape for shape in known if shape is not None]
    shapes += [one.shape for one in types.definitions]
    for shape in shapes:
        for _, part in walk(shape):
            if isinstance(part, ObjectShape):
                yield from part.keys


def covers(range_: Range, position: Position) -> bool:
    """Whether a position is in a range, or right behind it."""
    start, end = range_["start"], range_["end"]
    at = position["line"], position["character"]
    first = start["line"], start["character"]
    return first <= at <= (end["line"], end["character"])


def places_of_keys(keys: Sequence[Key]) -> set[Place]:
    """Return where keys are written."""
    return {key.place for key in keys if key.place is not None}


def page_of(href: str, patterns: Iterable[str]) -> str | None:
    """Return the pattern of the page that ``href`` leads to; None for none, or another site."""
    if not href.startswith("/") or href.startswith("//"):
        return None
    path = urlsplit(href.replace(BLANK, "\0")).path.replace("\0", BLANK)
    segments = [unquote(one) for one in path.split("/") if one]
    for pattern in sorted(patterns, key=specificity):
        if _matches(parse_pattern(pattern), segments):
            return pattern
    return None


def written_link(pattern: str) -> str:
    """Return the text to write for a link to a page: up to its first parameter."""
    fixed: list[str] = []
    for segment in parse_pattern(pattern):
        if segment.kind is not Kind.LITERAL:
            return "/" + "".join(f"{one}/" for one in fixed)
        fixed.append(segment.text)
    return "/" + "/".join(fixed)


def _matches(pattern: tuple[Segment, ...], segments: list[str]) -> bool:
    for index, expected in enumerate(pattern):
        if expected.kind is Kind.OPTIONAL_REST:
            return True
        if expected.kind is Kind.REST:
            return index < len(segments)
        if index >= len(segments):
            return False
        if expected.kind is Kind.LITERAL and segments[index] != expected.text:
            return False
    return len(segments) == len(pattern)
