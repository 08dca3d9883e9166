"""The UI halves of a project against the types of its Python halves.

Halves that write types are compiled as TypeScript, all others as JavaScript; see
`fxtrio.tools.types.report.tsc_diagnostics` for their reports.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import attrs
import trio

from fxtrio.compile.problems import Problem
from fxtrio.compile.project import CheckedProject
from fxtrio.tools.types.gather.page_types import ProjectTypes
from fxtrio.tools.types.report.compiler import Diagnostic, compile_types
from fxtrio.tools.types.report.javascript_leniency import NEVER_REPORTED
from fxtrio.tools.types.report.own_types import own_types
from fxtrio.tools.types.report.seen import Seen, seen_in
from fxtrio.tools.types.report.tsc_diagnostics import judged_problems
from fxtrio.tools.types.ui.client_types import Tier
from fxtrio.tools.types.ui.source.component_props import PROBE, answer_of
from fxtrio.tools.types.ui.virtual_project import TypesFolder, UiHalf, WrittenTier

Compile = Callable[[Path, Path, frozenset[str] | None], Awaitable[tuple[Diagnostic, ...]]]
"""A folder with settings, where TypeScript is, and the files of the folder that may have changed
since the last time (None when any may) in; mistakes out. Raises CompilerFailed."""


DEEPEST = 4
"""Components inside of each other through which a value is followed (count)."""


@attrs.define(eq=False)
class TypeCheck:
    """Checks one project, again and again."""

    folder: TypesFolder
    others: Sequence[str] = ()
    """Paths that the app answers besides its pages; see `TypesFolder.write_tier`."""

    compile: Compile = attrs.field(factory=lambda: _compile_again)
    """How the compiler is run: a new one each time, or that of a `TscServer`."""

    findings_in: frozenset[str] = frozenset()
    """Page files with complaints that are judged by the text around them."""

    _judged_in: set[str] = attrs.field(factory=set)
    _compiled: dict[Tier, tuple[int, tuple[Diagnostic, ...]]] = attrs.field(factory=dict)
    """The last output of the compiler, and the number of its input."""

    _unread: dict[Tier, frozenset[str] | None] = attrs.field(factory=dict)
    """Files that have been written since the compiler has read them; None for any."""

    def forget(self) -> None:
        """Compile all again: files that UI halves import may have changed."""
        self._compiled = {}

    async def run(
        self, project: CheckedProject, types: ProjectTypes, *, syntax: bool = False
    ) -> tuple[Problem, ...]:
        """Write `.fx/types`, and return the problems of the UI halves, by place.

        Those that do not parse are left out; with ``syntax`` their syntax errors are reported.
        Raises CompilerFailed.
        """
        halves = await trio.to_thread.run_sync(self._begin, project, types)
        self._judged_in = set()
        problems = await judged_problems(
            halves,
            types,
            partial(self._compile, types=types),
            is_typed=await trio.to_thread.run_sync(self.folder.typed),
            note_typed=self._note_typed,
            syntax=syntax,
        )
        self.findings_in = frozenset(self._judged_in)
        return problems

    def _begin(self, project: CheckedProject, types: ProjectTypes) -> list[UiHalf]:
        self.folder.write_facts(types)
        self.folder.forget_refuted()
        return [*self.folder.halves(project, types), *self.folder.component_halves(project)]

    async def _note_typed(self, halves: Sequence[UiHalf]) -> None:
        await trio.to_thread.run_sync(self.folder.note_typed, halves)

    async def _compile(
        self, tier: Tier, halves: Sequence[UiHalf], *, types: ProjectTypes
    ) -> Iterable[Seen]:
        by_source = {half.source: half for half in halves}
        seen: list[Seen] = []
        for _ in range(DEEPEST):
            written = await trio.to_thread.run_sync(
                self.folder.write_tier, tier, halves, types, self.others
            )
            unread = self._unread.get(tier)
            unread = None if unread is None else unread | written.changed
            known, found = self._compiled.get(tier, (0, ()))
            if known != written.number:
                self._unread[tier] = None  # whatever ends this, who knows what has been read
                found = await self.compile(self.folder.path / tier, self.folder.compiler, unread)
                self._compiled[tier] = written.number, found
                unread = frozenset()
            self._unread[tier] = unread
            seen = list(seen_in(found, written.files, by_source))
            if tier != "loose" or not self._learns(halves, seen, written):
                break
        seen = [one for one in seen if not answer_of(one.diagnostic)]
        judged = (one for one in seen if one.diagnostic.code not in NEVER_REPORTED)
        self._judged_in.update(one.half.source for one in judged)
        return seen

    def _learns(self, halves: Sequence[UiHalf], seen: Iterable[Seen], written: WrittenTier) -> bool:
        """Note what own components get; return whether that is something new."""
        has_probe = any(PROBE in one.text for one in written.files.values())
        if has_probe and not any(answer_of(one.diagnostic) for one in seen):
            return False  # files that do not parse: as long as there are some, nothing is answered
        return self.folder.note_own(
            own_types(halves, seen, self.folder.own, self.folder.components)
        )


async def _compile_again(
    folder: Path, compiler: Path, _: frozenset[str] | None
) -> tuple[Diagnostic, ...]:
    return await compile_types(folder, compiler)
