"""The UI halves of a project against the types of its Python halves.

Halves that write types are compiled as TypeScript, all others as JavaScript. Of those it is
told what concerns known types: what they complain about is compiled once more as if nothing
were known, and what is said then as well is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs
import trio

from fxtrio.compile.problems import Problem
from fxtrio.compile.project import CheckedProject
from fxtrio.errors import leaves
from fxtrio.types.client_types import Tier
from fxtrio.types.compiler import CompilerFailed, Diagnostic, compile_types
from fxtrio.types.folder import FOLDER, TypesFolder, UiHalf
from fxtrio.types.form_fields import form_problems
from fxtrio.types.loose_rules import (
    KnownNames,
    is_certain,
    is_told,
    says_broken,
    typescript_among,
)
from fxtrio.types.page_types import ProjectTypes
from fxtrio.types.shapes import ObjectShape, Plain, Vague, parts_of, walk
from fxtrio.types.told import problem_of
from fxtrio.types.virtual import VirtualUi


@attrs.frozen
class _Seen:
    """A complaint, and where it is."""

    diagnostic: Diagnostic
    half: UiHalf
    place: tuple[int, int]
    """Line and column in the `.fxl`, from 1."""

    offset: int
    """In the UI half."""


@attrs.define(eq=False)
class TypeCheck:
    """Checks one project, again and again."""

    folder: TypesFolder
    others: Sequence[str] = ()
    """Paths that the app answers besides its pages; see `TypesFolder.write_tier`."""

    _compiled: dict[Tier, tuple[str, tuple[Diagnostic, ...]]] = attrs.field(factory=dict)
    """What the compiler has said last, and the digest of what it was given."""

    def forget(self) -> None:
        """Compile anew what stays the same: files that UI halves import may have changed."""
        self._compiled = {}

    async def run(
        self, project: CheckedProject, types: ProjectTypes, *, syntax: bool = False
    ) -> tuple[Problem, ...]:
        """Write `.fx/types`, and return what is wrong with the UI halves, by place.

        Those that do not parse are left out; with ``syntax`` it is told where they are broken.
        Raises CompilerFailed.
        """
        halves = await trio.to_thread.run_sync(self._begin, project, types)
        typed = await trio.to_thread.run_sync(self.folder.typed)
        loose = [half for half in halves if not typed(half)]
        strict = [half for half in halves if typed(half)]
        seen = await self._compile_both(loose, strict, types)
        while more := _typescript_in(seen["loose"]):
            strict += [half for half in loose if half.source in more]
            loose = [half for half in loose if half.source not in more]
            await trio.to_thread.run_sync(self.folder.note_typed, strict)
            seen = await self._compile_both(loose, strict, types)
        chosen: dict[Tier, list[UiHalf]] = {"loose": loose, "strict": strict}
        broken: dict[str, _Seen] = {}
        for tier, listed in chosen.items():
            found = _broken_in(seen[tier])
            if found:
                whole = [half for half in listed if half.source not in found]
                seen[tier] = await self._compile(tier, whole, types)
                broken |= found
        told = [*await self._judged(seen["loose"], types), *seen["strict"]]
        told += broken.values() if syntax else ()
        return _problems(halves, told, types)

    def _begin(self, project: CheckedProject, types: ProjectTypes) -> list[UiHalf]:
        self.folder.write_facts(types)
        return self.folder.halves(project, types)

    @property
    def _path(self) -> Path:
        return self.folder.root / FOLDER

    async def _compile_both(
        self, loose: list[UiHalf], strict: list[UiHalf], types: ProjectTypes
    ) -> dict[Tier, list[_Seen]]:
        seen: dict[Tier, list[_Seen]] = {}
        failures: list[BaseException] = []

        async def compile_tier(tier: Tier, chosen: list[UiHalf]) -> None:
            seen[tier] = await self._compile(tier, chosen, types)

        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(compile_tier, "loose", loose)
                nursery.start_soon(compile_tier, "strict", strict)
        except* CompilerFailed as group:  # to be raised as it is, and not in a group
            failures = leaves(group)
        if failures:
            raise failures[0]
        return seen

    async def _compile(self, tier: Tier, halves: list[UiHalf], types: ProjectTypes) -> list[_Seen]:
        if not halves:
            return []
        virtual, digest = await trio.to_thread.run_sync(
            self.folder.write_tier, tier, halves, types, self.others
        )
        compiled = self._compiled
        known, found = compiled.get(tier, ("", ()))
        if known != digest:
            found = await compile_types(self._path / tier, self.folder.compiler)
            compiled[tier] = digest, found
        return list(_seen(found, virtual, {half.source: half for half in halves}))

    async def _judged(self, seen: list[_Seen], types: ProjectTypes) -> list[_Seen]:
        """Return those complaints about halves without types that are told."""
        known = _known_names(types)
        names = [one for one in seen if is_certain(one.diagnostic)]
        rest = [
            one
            for one in seen
            if not is_certain(one.diagnostic)
            and is_told(one.diagnostic, one.half.page.ui, one.offset, known)
        ]
        if not rest:
            return names
        sources = {one.half.source: one.half for one in rest}
        blank = await self._compile("blank", list(sources.values()), types)
        same = {(one.half.source, one.place, one.diagnostic.code) for one in blank}
        return [
            *names,
            *(one for one in rest if (one.half.source, one.place, one.diagnostic.code) not in same),
        ]


def _typescript_in(seen: Sequence[_Seen]) -> set[str]:
    """Return the sources of halves that were taken for JavaScript and are none."""
    lines = (one.half.page.ui.split("\n")[one.place[0] - 1] for one in seen)
    told = typescript_among((one.diagnostic, line) for one, line in zip(seen, lines, strict=True))
    return {one.half.source for one, is_told in zip(seen, told, strict=True) if is_told}


def _broken_in(seen: Sequence[_Seen]) -> dict[str, _Seen]:
    """Return where halves do not parse, by source: the first place of each."""
    found: dict[str, _Seen] = {}
    for one in seen:
        if says_broken(one.diagnostic):
            first = found.setdefault(one.half.source, one)
            if one.offset < first.offset:
                found[one.half.source] = one
    return found


def _seen(
    found: Iterable[Diagnostic], virtual: Mapping[str, VirtualUi], halves: Mapping[str, UiHalf]
) -> Iterable[_Seen]:
    """Yield complaints about the halves with their places; those about other files are left out."""
    for one in found:
        made = virtual.get(one.path)
        half = halves.get(one.path.rpartition(".")[0])
        if made is None or half is None:
            continue
        line = made.text.split("\n")[one.line - 1] if one.line <= made.text.count("\n") + 1 else ""
        units = line.encode("utf-16-le")[: 2 * (one.column - 1)]
        place = made.place(one.line, len(units.decode("utf-16-le", "replace")) + 1)
        starts = half.places.source.line_starts
        offset = starts[min(place[0], len(starts)) - 1] + place[1] - 1
        yield _Seen(one, half, place, offset)


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
    classes = frozenset(one.name for page in types.pages for one in page.definitions)
    return KnownNames(frozenset(texts - numbers), classes)


def _problems(
    halves: Iterable[UiHalf], told: Iterable[_Seen], types: ProjectTypes
) -> tuple[Problem, ...]:
    problems = {
        (one.path, one.line, one.column): one for half in halves for one in form_problems(half)
    }
    lines = {(one.path, one.line) for one in problems.values()}
    for one in told:
        text = one.half.page.ui
        if text.startswith("<Form", one.offset - 1) and (one.half.source, one.place[0]) in lines:
            continue  # told above
        names_action = one.diagnostic.code == 2322 and text.startswith("action", one.offset)
        if names_action and (one.half.source, one.place[0]) in lines:
            continue
        problem = problem_of(one.diagnostic, one.half, one.place, one.offset, types)
        problems.setdefault((problem.path, problem.line, problem.column), problem)
    return tuple(sorted(problems.values()))
