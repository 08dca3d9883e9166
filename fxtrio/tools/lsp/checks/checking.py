"""Keeps the editor's diagnostics equal to what `fx check` and `fx typecheck` print.

A file that is written in is looked at by itself, at once, and then against the types that are
known. What takes the whole project (its files together, its settings, its imports) is found
when it is opened and after each save, and stays in between where its lines do.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path

import attrs
import trio
from lsprotocol import types
from lsprotocol.types import Diagnostic

from fxtrio.compile.check.problem_kinds import Severity
from fxtrio.compile.problems import Problem
from fxtrio.tools.lsp.documents.documents import PAGE_SUFFIX, Document, Documents
from fxtrio.tools.lsp.documents.page import ParsedPage
from fxtrio.tools.lsp.documents.page_cache import PageCache, read_text_of
from fxtrio.tools.lsp.documents.positions import Places, places_of, units
from fxtrio.tools.lsp.processes.ui_analysis import Analyst

Publish = Callable[[Path, int | None, list[Diagnostic]], None]
"""Shows the diagnostics of a file, and of which version of it."""

CheckTypes = Callable[[ParsedPage], Awaitable[tuple[Problem, ...] | None]]
"""What does not fit the types in a text; None when that could not be found."""

CheckWhole = Callable[[Path], Awaitable[list[Problem] | None]]
"""All problems of a project, with paths relative to it; None when they could not be found."""


KINDS = ("check", "types", "python")
"""Kinds of checks of whole projects: `fx check`, and the two parts of `fx typecheck`."""


@attrs.frozen
class _Saved:
    """What the whole check has found in a file beside what a look at it alone finds."""

    places: Places
    """Of the text that was saved then."""

    others: tuple[Problem, ...] = ()
    types: frozenset[Problem] = frozenset()
    """Those of the others that do not fit the types."""


@attrs.frozen
class _Looked:
    """A text that was looked at by itself."""

    document: Document
    page: ParsedPage
    alone: tuple[Problem, ...]


@attrs.frozen
class _Live:
    """What does not fit the types in a text that may not be saved."""

    places: Places
    problems: tuple[Problem, ...]


class Checking:
    """Checks what `changed` and `saved` name, in tasks of its own."""

    def __init__(
        self,
        documents: Documents,
        pages: PageCache,
        analyst: Analyst,
        *,
        publish: Publish,
        check_whole: CheckWhole,
        check_types: CheckTypes,
        wait_for_turn: Callable[[], Awaitable[None]],
    ) -> None:
        self._documents = documents
        self._pages = pages
        self._analyst = analyst
        self._publish = publish
        self._check_whole = check_whole
        self._check_types = check_types
        self._wait_for_turn = wait_for_turn
        self._files: dict[Path, None] = {}  # to be looked at, in their order
        self._looked: dict[Path, _Looked] = {}
        self._typed: dict[Path, ParsedPage] = {}  # to be looked at against the types
        self._typing: Path | None = None  # the one that is
        self._newer = trio.CancelScope()
        self._live: dict[Path, _Live] = {}
        self._roots: dict[Path, None] = {}
        self._wake_files = trio.Event()
        self._wake_typed = trio.Event()
        self._wake_roots = trio.Event()
        self._whole: dict[Path, dict[Path, list[Problem]]] = {}  # by project, by file
        self._kinds: dict[Path, dict[str, list[Problem]]] = {}  # by project, by kind of check
        self._saved: dict[Path, _Saved] = {}

    def changed(self, file: Path) -> None:
        """Look at a file that was opened or edited."""
        self._files[file] = None
        self._wake_files.set()
        if file == self._typing:
            self._newer.cancel("there is a newer text")

    def saved(self, root: Path) -> None:
        """Check a project that was opened, or has changed on the disk."""
        self._whole.setdefault(root, {})
        self._roots[root] = None
        self._wake_roots.set()

    def knows(self, root: Path) -> bool:
        """Whether a project has been checked, or will be."""
        return root in self._whole

    async def run(self) -> None:
        """Check until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._run_files, name="lsp.files")
            nursery.start_soon(self._run_typed, name="lsp.types")
            nursery.start_soon(self._run_roots, name="lsp.projects")

    async def _run_files(self) -> None:
        while True:
            while self._files:
                file = next(iter(self._files))
                del self._files[file]
                await self._look(file)
            self._wake_files = trio.Event()
            await self._wake_files.wait()

    async def _run_typed(self) -> None:
        while True:
            while self._typed:
                file = self._typing = next(iter(self._typed))
                page = self._typed.pop(file)
                # `_look` comes to a newer text, and asks for it.
                with trio.CancelScope() as self._newer:
                    await self._look_at_types(file, page)
                self._typing = None
            self._wake_typed = trio.Event()
            await self._wake_typed.wait()

    async def _run_roots(self) -> None:
        while True:
            while self._roots:
                root = next(iter(self._roots))
                del self._roots[root]
                found = await self._check_whole(root)
                if found is not None:
                    await self.take(root, "check", found)
            self._wake_roots = trio.Event()
            await self._wake_roots.wait()

    async def _look(self, file: Path) -> None:
        """Publish the problems of an open file by itself, and those known from the project."""
        document = self._documents.get(file)
        if document is None:
            await self._publish_closed(file)
            return
        page = await self._pages.of(document)
        if page is None:
            return
        self._typed[file] = page  # meanwhile
        self._wake_typed.set()
        await self._wait_for_turn()
        if self._documents.get(file) is not document:  # a newer text, which is looked at next
            return
        alone = await self._alone(page)
        found = self._whole.get(page.root, {}).get(file)
        if found and file not in self._saved:
            self._saved[file] = await self._saved_state(page.root, file, found)
        if self._documents.get(file) is document:
            self._looked[file] = _Looked(document, page, tuple(alone))
            self._show_open(file)

    async def _look_at_types(self, file: Path, page: ParsedPage) -> None:
        """Publish what does not fit the types, once `_look` has looked at the text by itself."""
        await self._wait_for_turn()
        found = await self._check_types(page)
        if found is None or self._documents.get(file) is None:
            return
        self._live[file] = _Live(page.places, found)
        looked = self._looked.get(file)
        if looked is not None and looked.page is page:
            self._show_open(file)

    def _show_open(self, file: Path) -> None:
        """Publish the problems of an open file that are known by now."""
        looked, saved, live = self._looked[file], self._saved.get(file), self._live.get(file)
        places = looked.page.places
        problems = [*looked.alone]
        if saved is not None:
            others = [one for one in saved.others if live is None or one not in saved.types]
            known = moved(others, saved.places, places)
            problems = list(_each_place_once((problems, known)))
        if live is not None:
            current = moved(live.problems, live.places, places)
            problems = list(_each_place_once((problems, current)))
        self._show(file, looked.document.version, problems, places)

    async def _alone(self, page: ParsedPage) -> list[Problem]:
        return [*page.problems, *await self._analyst.problems(page)]

    async def take(self, root: Path, kind: str, found: list[Problem]) -> None:
        """Publish what one kind of check of a whole project has found, in all files.

        It takes the place of what the same kind has found before.
        """
        kinds = self._kinds.setdefault(root, {})
        kinds[kind] = found
        by_file: dict[Path, list[Problem]] = defaultdict(list)
        for problem in _each_place_once(kinds.get(one, []) for one in KINDS):
            by_file[(root / problem.path).resolve()].append(problem)
        before, self._whole[root] = self._whole.get(root, {}), by_file
        pages = [one.file for one in self._documents if self._is_page_of(one.file, root)]
        for file in pages:
            self._saved[file] = await self._saved_state(root, file, by_file.get(file, []))
            if kind == "types":
                self._live.pop(file, None)
            self.changed(file)
        for file in {**before, **by_file}:
            if file not in pages:
                await self._publish_closed(file)

    def _is_page_of(self, file: Path, root: Path) -> bool:
        return file.suffix == PAGE_SUFFIX and self._pages.root_of(file) == root

    async def _saved_state(self, root: Path, file: Path, found: list[Problem]) -> _Saved:
        text = await read_text_of(file)
        page = await self._pages.look(file, text)
        alone = {problem.head for problem in await self._alone(page)}
        others = tuple(one for one in found if one.head not in alone)
        types = frozenset(self._kinds.get(root, {}).get("types", ()))
        return _Saved(page.places, others, types.intersection(others))

    async def _publish_closed(self, file: Path) -> None:
        """Publish what the last whole check has found in a file that is not open."""
        found = self._whole.get(self._pages.root_of(file), {}).get(file, [])
        for known in (self._saved, self._live, self._looked):
            known.pop(file, None)
        places = places_of(await read_text_of(file))
        self._show(file, None, found, places)

    def _show(
        self, file: Path, version: int | None, problems: list[Problem], places: Places
    ) -> None:
        found = [diagnostic_of(problem, places) for problem in sorted(problems)]
        self._publish(file, version, found)


def _each_place_once(kinds: Iterable[Sequence[Problem]]) -> Iterator[Problem]:
    """Yield the problems of all kinds, of two kinds at one place those of the first."""
    taken: set[tuple[str, int, int]] = set()
    for found in kinds:
        new = [one for one in found if (one.path, one.line, one.column) not in taken]
        taken.update((one.path, one.line, one.column) for one in new)
        yield from new


# The underlined part: a name or a number, text in quotes, or else one character.
_WORD = re.compile(r"@?[\w$]+|\"[^\"\n]*\"|'[^'\n]*'|.")


_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
}


def diagnostic_of(problem: Problem, places: Places) -> types.Diagnostic:
    """Return a problem of the text with ``places``, underlined from its column to the word's end.

    Its message is that of `fx check` without the place.
    """
    line = max(problem.line - 1, 0)
    content = places.line(line)
    column = min(max(problem.column - 1, 0), len(content))
    found = _WORD.match(content, column)
    end = found.end() if found else column
    return types.Diagnostic(
        types.Range(_position(line, content, column), _position(line, content, end)),
        message_of(problem),
        severity=_SEVERITIES[problem.severity],
        source="fx",
    )


def message_of(problem: Problem) -> str:
    """Return cause and remedy in one line, as `fx check` has them behind the place."""
    end = "" if problem.remedy.endswith("?") else "."
    return f"{problem.message}. {problem.remedy}{end}"


def moved(problems: Iterable[Problem], before: Places, now: Places) -> list[Problem]:
    """Return those problems of a text whose lines are still there after it was edited.

    A line counts from the start of the text, or from its end.
    """
    shift = now.count - before.count
    remaining = []
    for problem in problems:
        content = before.line(problem.line - 1)
        for line in dict.fromkeys((problem.line, problem.line + shift)):
            if line <= 1 or now.line(line - 1) == content:
                remaining.append(
                    problem
                    if line == problem.line
                    else attrs.evolve(problem, line=max(line, 0), frame="")
                )
                break
    return remaining


def _position(line: int, content: str, column: int) -> types.Position:
    return types.Position(line, units(content[:column]))
