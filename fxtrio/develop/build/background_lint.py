"""Mistakes of UI code and of packages, looked for when nothing else is done: pages are served."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any

import attrs
import trio

from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.problems import Problem, placed
from fxtrio.compile.project import CheckedProject
from fxtrio.config import Config
from fxtrio.develop.build.background_typecheck import Show
from fxtrio.develop.build.outlines import CheckInput
from fxtrio.develop.report.diagnostic_dedup import NewProblems
from fxtrio.develop.report.overlay_errors import overlay_finding
from fxtrio.develop.vite.vite import OrderVoid
from fxtrio.errors import FxtrioError

_NAME = "likely mistakes"
_LATER = 1.0  # seconds after a change: the screen comes first
_CODE = frozenset({".fxl", ".js", ".jsx", ".mjs", ".mts", ".ts", ".tsx"})
_UI = frozenset({".css", ".fxl", ".jsx", ".tsx"})
"""Kinds of files that nothing beside UI code depends on."""


@attrs.frozen
class _Files:
    """What matters of a project to those who look at UI code."""

    pages: dict[str, dict[str, Any]]
    """Of each page file that divides into halves, by source."""

    shared_actions: tuple[str, ...]

    def has_same_sources(self, other: _Files) -> bool:
        """Return whether at most the texts of page files differ."""
        return (self.pages.keys(), self.shared_actions) == (
            other.pages.keys(),
            other.shared_actions,
        )


@attrs.define(eq=False)
class BackgroundLint:
    """Looks for them one after the other; runs its task in ``nursery``."""

    root: Path
    nursery: trio.Nursery
    report: Callable[[str], None]
    new_problems: NewProblems
    ask: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
    """Lets Node look: `ui_order` → what `ui_found` takes. Raises BundlerCrashed.

    After such an order it takes one that has files that have ``changed`` alone; it says ``unknown``
    when it does not know the others, because it has restarted.
    """

    show: Show
    """Tells the browsers."""

    _checking: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    _reported: list[Problem] = attrs.field(factory=list)
    _checked: CheckInput | None = None
    """What was looked at the last time; None when other files have changed."""

    exact: frozenset[str] = frozenset()
    """Files with mistakes, whose places may be others when there are other words."""

    _files: _Files | None = None
    """What mattered of it; None when other files have changed."""

    _known: dict[str, tuple[CheckedPage, dict[str, Any]]] = attrs.field(factory=dict)
    """What matters of each page file, by source, after the file."""

    _whole: bool = True
    """Whether Node has to look at more than page files that have changed."""

    _beside: tuple[CheckedProject, Config, list[Problem]] | None = None
    """In what something was looked for beside UI code, and what was found; None when that is not
    known."""

    def look_later(
        self,
        looked_at: CheckInput,
        toolchain: Path,
        files: Iterable[str] = (),
        *,
        after: float = _LATER,
    ) -> None:
        """Look at the newest version, ``looked_at``; tell each mistake once.

        ``files`` have changed, besides page files. Begins ``after`` so many seconds. Where
        no checked file has changed, nothing is done: it costs as much as all
        else that a save does.
        """
        self._whole = self._whole or any(files)
        if any(PurePosixPath(file).suffix in _CODE for file in files):
            self._checked = self._files = None
        if any(PurePosixPath(file).suffix not in _UI for file in files):
            self._beside = None
        self._checking.cancel("there is a newer version")
        if self._checked and looked_at.looks_like(self._checked, exact=self.exact):
            return
        self._checking = trio.CancelScope()
        self.nursery.start_soon(self._look, self._checking, looked_at, toolchain, after)

    async def _look(
        self, scope: trio.CancelScope, looked_at: CheckInput, toolchain: Path, after: float
    ) -> None:
        with scope:
            await trio.sleep(after)
            # Heavy: the first page comes first.
            from fxtrio.compile.check.ui_code import ui_found

            files = self._files_of(looked_at.project)
            if files == self._files:
                self._checked = looked_at
                return
            try:
                found = ui_found(self.root, await self._ask(looked_at.project, toolchain, files))
            except OrderVoid:
                return  # who has started the next Node asks that one
            except (FxtrioError, OSError) as error:
                self.report(str(error))
                return
            if scope.cancel_called:
                return
            beside = await self._problems_beside(looked_at)
            self._checked, self._files, self._whole = looked_at, files, False
            in_ui = [*found.certain, *found.likely]
            self.exact = frozenset(one.path for one in in_ui)
            ui = placed(in_ui, self.root)
            problems = sorted([*ui, *beside])
            self.new_problems.report(_NAME, problems)
            before, self._reported = self._reported, problems
            if before != problems:
                await self.show([overlay_finding(one, Path()) for one in problems])

    def _files_of(self, project: CheckedProject) -> _Files:
        from fxtrio.compile.check.ui_code import ui_file

        before, self._known = self._known, {}
        for page in project.pages:
            if page.whole:
                source = page.module.source
                known = before.get(source)
                is_known = known is not None and known[0] is page
                self._known[source] = known if known and is_known else (page, ui_file(page))
        pages = {source: file for source, (_, file) in self._known.items()}
        return _Files(pages, project.shared_actions)

    async def _ask(self, project: CheckedProject, toolchain: Path, files: _Files) -> dict[str, Any]:
        """Let Node look: at what has changed, if it has looked at everything else before."""
        before, is_whole = self._files, self._whole
        self._files, self._whole = None, True  # whatever ends this, Node may know other texts
        if before is not None and not is_whole and files.has_same_sources(before):
            pages = before.pages
            changed = [file for source, file in files.pages.items() if file != pages[source]]
            answer = await self.ask({"changed": changed})
            if not answer.get("unknown"):
                return answer
        from fxtrio.compile.check.ui_code import ui_order

        return await self.ask(ui_order(self.root, project, toolchain, [*files.pages.values()]))

    async def _problems_beside(self, looked_at: CheckInput) -> list[Problem]:
        project, config, known = looked_at.project, looked_at.config, self._beside
        if known is not None:
            before, settings, found = known
            is_same = (project.tree, config) == (before.tree, settings)
            if is_same and project.has_same_python(before):
                return found
        # Heavy, and the first page has been shown.
        from fxtrio.tools.project_checks.project_files import beside_problems

        found = await beside_problems(self.root, config, project, connects=False)
        self._beside = project, config, found
        return found

    def forget_beside(self) -> None:
        """Look at Python modules once more: they have changed."""
        self._beside = None

    def stop(self) -> None:
        """Look at nothing until `look_later` is called: Node may be restarted."""
        self._beside = None
        self._checking.cancel("everything is built again")
