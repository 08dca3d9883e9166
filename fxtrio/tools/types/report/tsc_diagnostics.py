"""Selects which of the compiler's complaints about UI halves are reported, and words them.

Of halves without types, complaints that concern known types are reported: such a half is
compiled once more as if nothing were known, and complaints that remain are left out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Protocol

import attrs
import trio

from fxtrio.compile.problems import Problem
from fxtrio.errors import leaves
from fxtrio.tools.types.gather.page_types import PageTypes, ProjectTypes
from fxtrio.tools.types.python.shapes import ObjectShape, Plain, UnknownType, parts_of, walk
from fxtrio.tools.types.report.compiler import CompilerFailed
from fxtrio.tools.types.report.diagnostic_messages import problem_of
from fxtrio.tools.types.report.javascript_leniency import (
    DECLARED_TWICE,
    INDEXED,
    NAMES,
    KnownNames,
    call_of_action,
    called_at,
    checked_path,
    is_certain,
    is_reported,
    says_broken,
    typescript_among,
)
from fxtrio.tools.types.report.seen import Seen
from fxtrio.tools.types.report.undefined_names import is_no_mistake
from fxtrio.tools.types.ui.client_types import Tier
from fxtrio.tools.types.ui.socket_types import message_name
from fxtrio.tools.types.ui.source.checked_paths import is_guarded, is_narrowed
from fxtrio.tools.types.ui.source.form_fields import form_problems
from fxtrio.tools.types.ui.virtual_project import UiHalf


class Compile(Protocol):
    """Lets the compiler look at halves. Raises CompilerFailed."""

    async def __call__(self, tier: Tier, halves: Sequence[UiHalf]) -> Iterable[Seen]:
        """Return what it says of them as files of a tier."""


async def judged_problems(
    halves: Sequence[UiHalf],
    types: ProjectTypes,
    compile_halves: Compile,
    *,
    is_typed: Callable[[UiHalf], bool],
    note_typed: Callable[[Sequence[UiHalf]], Awaitable[None]],
    syntax: bool = False,
) -> tuple[Problem, ...]:
    """Return the problems of UI halves, by place.

    Those that do not parse are left out; with ``syntax`` their syntax errors are reported.
    ``is_typed`` tells which are known to write types; ``note_typed`` gets all that do when
    there are others. Raises CompilerFailed.
    """
    strict = [half for half in halves if is_typed(half)]
    typed = {half.source for half in strict}
    loose = [half for half in halves if half.source not in typed]
    seen = await _both(compile_halves, loose, strict)
    while more := _typescript_in(seen["loose"]):
        strict += [half for half in loose if half.source in more]
        loose = [half for half in loose if half.source not in more]
        await note_typed(strict)
        seen = await _both(compile_halves, loose, strict)
    chosen: dict[Tier, list[UiHalf]] = {"loose": loose, "strict": strict}
    broken: dict[str, Seen] = {}
    for tier, listed in chosen.items():
        found = _broken_in(seen[tier])
        if found:
            whole = [half for half in listed if half.source not in found]
            seen[tier] = await _some(compile_halves, tier, whole)
            broken |= found
    typed_ones = [
        one for one in seen["strict"] if not _is_narrowed(one) and not _is_reported_elsewhere(one)
    ]
    reported = [*await _judged(seen["loose"], types, compile_halves), *typed_ones]
    reported += broken.values() if syntax else ()
    return _problems(halves, reported, types)


async def _both(
    compile_halves: Compile, loose: Sequence[UiHalf], strict: Sequence[UiHalf]
) -> dict[Tier, list[Seen]]:
    seen: dict[Tier, list[Seen]] = {}
    failures: list[BaseException] = []

    async def compile_tier(tier: Tier, chosen: Sequence[UiHalf]) -> None:
        seen[tier] = await _some(compile_halves, tier, chosen)

    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(compile_tier, "loose", loose)
            nursery.start_soon(compile_tier, "strict", strict)
    except* CompilerFailed as group:  # to be raised as it is, and not in a group
        failures = leaves(group)
    if failures:
        raise failures[0]
    return seen


async def _some(compile_halves: Compile, tier: Tier, halves: Sequence[UiHalf]) -> list[Seen]:
    return list(await compile_halves(tier, halves)) if halves else []


async def _judged(seen: Sequence[Seen], types: ProjectTypes, compile_halves: Compile) -> list[Seen]:
    """Return those complaints about halves without types that are reported."""
    seen = [one for one in seen if not _is_reported_elsewhere(one)]
    names = [one for one in seen if is_certain(one.diagnostic)]
    if len(names) == len(seen):
        return names
    known = _names_by_half(seen, types)
    unnamed = {(one.half.source, name) for one in seen for name in _unnamed_actions(one)}
    rest = [
        one
        for one in seen
        if not is_certain(one.diagnostic)
        and is_reported(one.diagnostic, one.half.page.ui, one.offset, known[one.half.source])
        and (one.half.source, called_at(one.diagnostic, one.half.page.ui, one.offset))
        not in unnamed
        and not _is_guarded(one)
    ]
    if not rest:
        return names
    sources = {one.half.source: one.half for one in rest}
    blank = await _some(compile_halves, "blank", list(sources.values()))
    same = set(map(_complaint, blank))
    return [*names, *(one for one in rest if _complaint(one) not in same)]


def _is_reported_elsewhere(one: Seen) -> bool:
    """Whether `fx check` reports the same of a file of components, or another use of a name."""
    return (one.half.is_component and one.diagnostic.code in NAMES) or is_no_mistake(one)


def _unnamed_actions(one: Seen) -> Iterable[str]:
    """Yield calls of actions whose name is wrong or unknown: nothing more is reported of them."""
    named = call_of_action(one.half.page.ui, one.offset) if one.diagnostic.code == 2345 else ""
    if named:
        yield named


def _is_guarded(one: Seen) -> bool:
    half = one.half
    path = checked_path(one.diagnostic, half.page.ui, one.offset)
    return bool(path) and is_guarded(half.page.ui, half.places.pairs, one.offset, path)


def _is_narrowed(one: Seen) -> bool:
    half = one.half
    path = checked_path(one.diagnostic, half.page.ui, one.offset)
    return bool(path) and is_narrowed(half.page.ui, half.places.pairs, one.offset, path)


def _complaint(one: Seen) -> tuple[str, tuple[int, int], int, str]:
    """Return the complaints that remain where nothing is known of the data: any key may be read."""
    found = one.diagnostic
    message = found.message if found.code == INDEXED else ""
    return one.half.source, one.place, found.code, message


def _typescript_in(seen: Sequence[Seen]) -> set[str]:
    """Return the sources of halves that were taken for JavaScript and are none."""
    lines = (one.half.page.ui.split("\n")[one.place[0] - 1] for one in seen)
    reported = typescript_among(
        (one.diagnostic, line) for one, line in zip(seen, lines, strict=True)
    )
    return {one.half.source for one, is_reported in zip(seen, reported, strict=True) if is_reported}


def _broken_in(seen: Sequence[Seen]) -> dict[str, Seen]:
    """Return where halves do not parse, by source: the first place of each."""
    found: dict[str, Seen] = {}
    for one in seen:
        if says_broken(one.diagnostic):
            first = found.setdefault(one.half.source, one)
            if one.offset < first.offset:
                found[one.half.source] = one
    return found


def _names_by_half(seen: Iterable[Seen], types: ProjectTypes) -> dict[str, KnownNames]:
    """Return, by source, the keys that hold text, and the names of classes."""
    anywhere = _text_keys(types.pages)
    known = _known_names(anywhere[0] - anywhere[1], types)
    found: dict[str, KnownNames] = {}
    for half in {one.half.source: one.half for one in seen}.values():
        own = _text_keys([half.types])  # which other pages may use for something else
        texts = (own[0] | known.texts) - own[1]
        found[half.source] = attrs.evolve(known, texts=texts)
    return found


def _text_keys(pages: Iterable[PageTypes]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the keys that hold text, and those that hold something else or numbers as text."""
    texts, numbers = set[str](), set[str]()
    for page in pages:
        shapes = [page.data, page.layout_data, *(one.shape for one in page.definitions)]
        for shape in (inner for outer in shapes for _, inner in walk(outer)):
            for key in shape.keys if isinstance(shape, ObjectShape) else ():
                for part in parts_of(key.shape):
                    if isinstance(part, Plain) and part.kind == "string":
                        (numbers if part.format == "decimal" else texts).add(key.name)
                    elif isinstance(part, Plain | UnknownType):
                        numbers.add(key.name)
    return frozenset(texts), frozenset(numbers)


def _known_names(texts: frozenset[str], types: ProjectTypes) -> KnownNames:
    classes = {
        one.name: frozenset(key.name for key in one.shape.keys)
        for page in types.pages
        for one in page.definitions
        if isinstance(one.shape, ObjectShape)
    }
    unions = {
        message_name(number): frozenset(key.name for part in parts for key in part.keys)
        for number, page in enumerate(types.pages)
        if len(parts := _objects_sent(page)) > 1
    }
    return KnownNames(texts, {**classes, **unions}, frozenset(unions))


def _objects_sent(page: PageTypes) -> list[ObjectShape]:
    """Return what a page's WebSocket sends, as far as these are objects."""
    parts = parts_of(page.messages) if page.messages is not None else ()
    return [one for part in parts if isinstance(one := page.definition(part), ObjectShape)]


def _once(reported: Iterable[Seen]) -> Iterable[Seen]:
    """Yield complaints; of a name that is declared twice, the compiler names both places."""
    twice = set[tuple[str, str]]()
    for one in reported:
        if one.diagnostic.code == DECLARED_TWICE:
            name = one.half.source, one.diagnostic.message
            if name in twice:
                continue
            twice.add(name)
        yield one


def _problems(
    halves: Iterable[UiHalf], reported: Iterable[Seen], types: ProjectTypes
) -> tuple[Problem, ...]:
    problems = {
        (one.path, one.line, one.column): one
        for half in halves
        for one in form_problems(half, types)
    }
    lines = {(one.path, one.line) for one in problems.values()}
    for one in _once(reported):
        text = one.half.page.ui
        if text.startswith("<Form", one.offset - 1) and (one.half.source, one.place[0]) in lines:
            continue  # reported above
        names_action = one.diagnostic.code in (2322, 2769) and text.startswith("action", one.offset)
        if names_action and (one.half.source, one.place[0]) in lines:
            continue
        problem = problem_of(one.diagnostic, one.half, one.place, one.offset, types)
        problems.setdefault((problem.path, problem.line, problem.column), problem)
    return tuple(sorted(problems.values()))
