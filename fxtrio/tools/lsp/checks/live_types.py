"""What does not fit the types in a page as it is being written, saved or not.

The compiler's own server checks virtual files in a folder that names nothing but pages
that are open: so small a program is compiled while somebody types. The reported part of its results
is what `fx typecheck` would tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import trio

from fxtrio.build_folder import LinkInTheWay
from fxtrio.compile.problems import Problem
from fxtrio.tools.lsp.documents.page import ParsedPage
from fxtrio.tools.lsp.documents.ui_half import UiText
from fxtrio.tools.lsp.processes.delegated_servers import DelegatedServers
from fxtrio.tools.lsp.project_index import KnownProject, ProjectIndex
from fxtrio.tools.types.report.checking import DEEPEST
from fxtrio.tools.types.report.compiler import CompilerFailed, Diagnostic
from fxtrio.tools.types.report.javascript_leniency import says_broken
from fxtrio.tools.types.report.own_types import own_types
from fxtrio.tools.types.report.seen import Seen, seen_in
from fxtrio.tools.types.report.tsc_diagnostics import judged_problems
from fxtrio.tools.types.ui.client_types import Tier
from fxtrio.tools.types.ui.source.component_props import answer_of
from fxtrio.tools.types.ui.source.jsx_positions import UiPlaces
from fxtrio.tools.types.ui.virtual_project import FOLDER, TypesFolder, UiHalf, virtual_name
from fxtrio.tools.types.ui.virtual_ui import virtual_ui

_TIERS: tuple[Tier, ...] = ("loose", "strict", "blank")


@attrs.frozen(eq=False)
class _Found:
    """What was found of a half, and of which."""

    ui: UiText
    of: tuple[KnownProject, Sequence[str]]
    """As in `_Written`."""

    problems: tuple[Problem, ...]


@attrs.define(eq=False)
class _Written:
    """The folder of one project."""

    folder: TypesFolder
    of: tuple[KnownProject, Sequence[str]]
    """What it has been written for: the pages, and the paths that the app answers besides."""

    sources: frozenset[str]
    """Pages that it has."""

    typed: set[str]
    """Those that are known to write types."""


class LiveTypes:
    """Asks the server of TypeScript that fxtrio brings along."""

    def __init__(self, knowledge: ProjectIndex, others: DelegatedServers) -> None:
        self._knowledge = knowledge
        self._others = others
        self._written: dict[Path, _Written] = {}
        self._asking = trio.Lock()
        self._own: dict[tuple[Path, str], Mapping[str, str]] = {}
        self._found: dict[tuple[Path, str], _Found] = {}

    async def problems(self, page: ParsedPage) -> tuple[Problem, ...] | None:
        """Return what does not fit; None while that cannot be found out."""
        known = self._knowledge.of(page.root)
        types = None if known is None else known.types.page(page.path)
        numbers = {} if known is None else known.numbers
        if known is None or types is None or not page.checked.whole or page.path not in numbers:
            return None
        async with self._asking:
            try:
                written = await self._folder_of(page, known)
            except LinkInTheWay:  # which is reported when a page is saved
                return None
            if written is None:
                return None
            last = self._found.get((page.root, page.path))
            if last is not None and last.ui is page.ui and last.of == written.of:
                return last.problems  # an edit of the Python half, whose types come with a save
            places = await trio.to_thread.run_sync(_places_of, page)
            half = UiHalf(page.checked, types, numbers[page.path], places)
            typed = set(written.typed)
            try:
                found = await judged_problems(
                    [half],
                    known.types,
                    partial(self._compile, written.folder),
                    is_typed=lambda one: one.source in typed,
                    note_typed=partial(_note, typed),
                )
            except CompilerFailed:  # it does not parse, or the process has died, which is reported
                return None
            written.typed = typed
            self._found[page.root, page.path] = _Found(page.ui, written.of, found)
            return found

    async def _folder_of(self, page: ParsedPage, known: KnownProject) -> _Written | None:
        """Return the folder of a project, which has the page and the types that are known now."""
        root = page.root
        others = self._knowledge.other_paths(root)
        before = self._written.get(root)
        now = known, others
        if before is not None and page.path in before.sources and before.of == now:
            return before
        folder = self._knowledge.types_folder(root, FOLDER / "editor")
        saved = self._knowledge.types_folder(root)
        if folder is None or saved is None:
            return None
        sources = frozenset({page.path, *(before.sources if before else ())} & known.numbers.keys())
        write = partial(_write, folder, known, sources, others)
        self._others.files_changed(root, await trio.to_thread.run_sync(write))
        is_typed = await trio.to_thread.run_sync(saved.typed)
        halves = await trio.to_thread.run_sync(saved.halves, known.project, known.types)
        typed = {half.source for half in halves if is_typed(half)}
        written = self._written[root] = _Written(folder, now, sources, typed)
        return written

    async def _compile(
        self, folder: TypesFolder, tier: Tier, halves: Sequence[UiHalf]
    ) -> Iterable[Seen]:
        (half,) = halves
        path = folder.root, half.source
        seen: list[Seen] = []
        for _ in range(DEEPEST):
            own = self._own.get(path, {})
            seen = list(await self._seen(folder, tier, half, own if tier == "loose" else None))
            known = {half.source: own}
            found = own_types([half], seen, known) if tier == "loose" else {}
            self._own[path] = found.get(half.source, {}) if tier == "loose" else own
            if self._own[path] == own:
                break
        return [one for one in seen if not answer_of(one.diagnostic)]

    async def _seen(
        self, folder: TypesFolder, tier: Tier, half: UiHalf, own: Mapping[str, str] | None
    ) -> Iterable[Seen]:
        name = virtual_name(half.source, tier)
        typed = tier == "strict"
        virtual = virtual_ui(half.page.ui, half.places, half.module, typed=typed, own=own)
        found = await self._others.diagnose(folder.root, folder.path / tier / name, virtual.text)
        if found is None:
            raise CompilerFailed(0, "the server does not answer")
        diagnostics = [_diagnostic(name, one) for one in found]
        if typed and any(map(says_broken, diagnostics)):  # and so as JavaScript
            raise CompilerFailed(0, "the half does not parse")
        return seen_in(diagnostics, {name: virtual}, {half.source: half})


def _places_of(page: ParsedPage) -> UiPlaces:
    return page.ui_places


async def _note(typed: set[str], halves: Iterable[UiHalf]) -> None:
    typed.update(half.source for half in halves)


def _write(
    folder: TypesFolder, known: KnownProject, sources: frozenset[str], others: Sequence[str]
) -> list[Path]:
    """Write the files of the pages that have been opened; return all that are there."""
    pages = known.project.pages
    types = known.types.by_source()
    halves = [
        folder.half(page, types[page.module.source], number)
        for number, page in enumerate(pages)
        if page.module.source in sources and page.module.source in types
    ]
    for tier in _TIERS:
        folder.write_tier(tier, halves, known.types, others, around=pages)
    return [path for path in folder.path.rglob("*") if path.is_file()]


def _diagnostic(path: str, found: dict[str, Any]) -> Diagnostic:
    start = found["range"]["start"]
    message, *details = found["message"].split("\n")
    place = start["line"] + 1, start["character"] + 1
    return Diagnostic(path, *place, found["code"], message, tuple(one.strip() for one in details))
