"""Selects which of the compiler's complaints about UI halves are reported, and words them.

Of halves without types, complaints that concern known types are reported: such a half is
compiled once more as if nothing were known, and complaints that remain are left out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Protocol

import attrs
import trio

from fxtrio.compile.problems import Problem
from fxtrio.errors import leaves
from fxtrio.tools.types.gather.page_types import PageTypes, ProjectTypes
from fxtrio.tools.types.python.shapes import ObjectShape, Plain, Vague, parts_of, walk
from fxtrio.tools.types.report.compiler import CompilerFailed, Diagnostic
from fxtrio.tools.types.report.diagnostic_messages import problem_of
from fxtrio.tools.types.report.javascript_leniency import (
    INDEXED,
    KnownNames,
    call_around,
    call_of_action,
    checked_path,
    is_certain,
    is_reported,
    says_broken,
    typescript_among,
)
from fxtrio.tools.types.ui.client_types import Tier
from fxtrio.tools.types.ui.socket_types import message_name
from fxtrio.tools.types.ui.source.checked_paths import is_guarded_around
from fxtrio.tools.types.ui.source.component_props import answer_of, own_components, props_of
from fxtrio.tools.types.ui.source.form_fields import form_problems
from fxtrio.tools.types.ui.typescript import Printer
from fxtrio.tools.types.ui.virtual_project import UiHalf
from fxtrio.tools.types.ui.virtual_ui import VirtualUi


@attrs.frozen
class Seen:
    """A complaint, and where it is."""

    diagnostic: Diagnostic
    half: UiHalf
    place: tuple[int, int]
    """Line and column in the `.fxl`, from 1."""

    offset: int
    """In the UI half."""


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
    reported = [*await _judged(seen["loose"], types, compile_halves), *seen["strict"]]
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
    names = [one for one in seen if is_certain(one.diagnostic)]
    if len(names) == len(seen):
        return names
    known = _known_names(types)
    unnamed = {(one.half.source, name) for one in seen for name in _unnamed_actions(one)}
    rest = [
        one
        for one in seen
        if not is_certain(one.diagnostic)
        and is_reported(one.diagnostic, one.half.page.ui, one.offset, known)
        and (one.half.source, call_around(one.half.page.ui, one.offset)) not in unnamed
        and not _is_guarded(one)
    ]
    if not rest:
        return names
    sources = {one.half.source: one.half for one in rest}
    blank = await _some(compile_halves, "blank", list(sources.values()))
    same = set(map(_complaint, blank))
    return [*names, *(one for one in rest if _complaint(one) not in same)]


def _unnamed_actions(one: Seen) -> Iterable[str]:
    """Yield calls of actions whose name is wrong or unknown: nothing more is reported of them."""
    named = call_of_action(one.half.page.ui, one.offset) if one.diagnostic.code == 2345 else ""
    if named:
        yield named


def _is_guarded(one: Seen) -> bool:
    path = checked_path(one.diagnostic)
    half = one.half
    return bool(path) and is_guarded_around(half.page.ui, half.places.pairs, one.offset, path)


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


def seen_in(
    found: Iterable[Diagnostic], virtual: Mapping[str, VirtualUi], halves: Mapping[str, UiHalf]
) -> Iterable[Seen]:
    """Yield complaints about the halves with their places; those about other files are left out."""
    for one in found:
        virtual_file = virtual.get(one.path)
        half = halves.get(one.path.rpartition(".")[0])
        if virtual_file is None or half is None:
            continue
        line = (
            virtual_file.text.split("\n")[one.line - 1]
            if one.line <= virtual_file.text.count("\n") + 1
            else ""
        )
        units = line.encode("utf-16-le")[: 2 * (one.column - 1)]
        place = virtual_file.place(one.line, len(units.decode("utf-16-le", "replace")) + 1)
        starts = half.places.source.line_starts
        offset = starts[min(place[0], len(starts)) - 1] + place[1] - 1
        yield Seen(one, half, place, offset)


def own_types(halves: Iterable[UiHalf], seen: Iterable[Seen]) -> dict[str, dict[str, str]]:
    """Return what the own components of halves get, by source and name, from the answers."""
    answers: dict[str, dict[int, str]] = {}
    for one in seen:
        if answer := answer_of(one.diagnostic):
            answers.setdefault(one.half.source, {})[one.offset] = answer
    found = {}
    for half in halves:
        passed = answers.get(half.source)
        if passed is None:
            continue
        names = Printer.of(half.types.definitions).names
        called = [names.get(one.name, one.name) for one in half.types.definitions]
        written = {name: f'import("{half.module}").{name}' for name in called}
        components = own_components(half.page.ui, half.places)
        found[half.source] = props_of(components, passed, written)
    return found


def _known_names(types: ProjectTypes) -> KnownNames:
    """Return the keys that hold text, and the names of classes."""
    texts, numbers = set[str](), set[str]()
    for page in types.pages:
        shapes = [page.data, page.layout_data, *(one.shape for one in page.definitions)]
        for shape in (inner for outer in shapes for _, inner in walk(outer)):
            for key in shape.keys if isinstance(shape, ObjectShape) else ():
                for part in parts_of(key.shape):
                    if isinstance(part, Plain) and part.kind == "string":
                        (numbers if part.format == "decimal" else texts).add(key.name)
                    elif isinstance(part, Plain | Vague):
                        numbers.add(key.name)
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
    return KnownNames(frozenset(texts - numbers), {**classes, **unions}, frozenset(unions))


def _objects_sent(page: PageTypes) -> list[ObjectShape]:
    """Return what a page's WebSocket sends, as far as these are objects."""
    parts = parts_of(page.messages) if page.messages is not None else ()
    return [one for part in parts if isinstance(one := page.definition(part), ObjectShape)]


def _problems(
    halves: Iterable[UiHalf], reported: Iterable[Seen], types: ProjectTypes
) -> tuple[Problem, ...]:
    problems = {
        (one.path, one.line, one.column): one
        for half in halves
        for one in form_problems(half, types)
    }
    lines = {(one.path, one.line) for one in problems.values()}
    for one in reported:
        text = one.half.page.ui
        if text.startswith("<Form", one.offset - 1) and (one.half.source, one.place[0]) in lines:
            continue  # reported above
        names_action = one.diagnostic.code in (2322, 2769) and text.startswith("action", one.offset)
        if names_action and (one.half.source, one.place[0]) in lines:
            continue
        problem = problem_of(one.diagnostic, one.half, one.place, one.offset, types)
        problems.setdefault((problem.path, problem.line, problem.column), problem)
    return tuple(sorted(problems.values()))
