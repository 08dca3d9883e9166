"""Mistakes of UI code and of packages, looked for when nothing else is done: pages are served."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any

import attrs
import trio

from fxtrio.compile.check.ui_code import ui_found, ui_order
from fxtrio.compile.problems import Problem, placed
from fxtrio.develop.build.background_typecheck import Show
from fxtrio.develop.build.outlines import CheckInput
from fxtrio.develop.report.diagnostic_dedup import NewProblems
from fxtrio.develop.report.overlay_errors import shown_finding
from fxtrio.develop.vite.vite import OrderVoid
from fxtrio.errors import FxtrioError
from fxtrio.tools.project_checks.project_files import beside_problems

_NAME = "likely mistakes"
_LATER = 1.0  # seconds after a change: the screen comes first
_CODE = frozenset({".fxl", ".js", ".jsx", ".mjs", ".mts", ".ts", ".tsx"})
_UI = frozenset({".css", ".fxl", ".jsx", ".tsx"})
"""Kinds of files that nothing beside UI code depends on."""


@attrs.define(eq=False)
class BackgroundLint:
    """Looks for them one after the other; runs its task in ``nursery``."""

    root: Path
    nursery: trio.Nursery
    report: Callable[[str], None]
    new_problems: NewProblems
    ask: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
    """Lets Node look: `ui_order` → what `ui_found` takes. Raises BundlerCrashed."""

    show: Show
    """Tells the browsers."""

    _checking: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    _reported: list[Problem] = attrs.field(factory=list)
    _checked: CheckInput | None = None
    """What was looked at the last time; None when other files have changed."""

    exact: frozenset[str] = frozenset()
    """Files with mistakes, whose places may be others when there are other words."""

    _files: object = None
    """What mattered of it; None when other files have changed."""

    _beside: tuple[object, list[Problem]] | None = None
    """What was found beside UI code, after that in which it was; None when that is not known."""

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
            project = looked_at.project
            order = ui_order(self.root, project, toolchain)
            if order["files"] == self._files:
                self._checked = looked_at
                return
            try:
                found = ui_found(self.root, await self.ask(order))
            except OrderVoid:
                return  # who has started the next Node asks that one
            except (FxtrioError, OSError) as error:
                self.report(str(error))
                return
            if scope.cancel_called:
                return
            beside = await self._problems_beside(looked_at)
            self._checked, self._files = looked_at, order["files"]
            in_ui = [*found.certain, *found.likely]
            self.exact = frozenset(one.path for one in in_ui)
            ui = placed(in_ui, self.root)
            problems = sorted([*ui, *beside])
            self.new_problems.report(_NAME, problems)
            before, self._reported = self._reported, problems
            if before != problems:
                await self.show([shown_finding(one, Path()) for one in problems])

    async def _problems_beside(self, looked_at: CheckInput) -> list[Problem]:
        project, config = looked_at.project, looked_at.config
        key = project.python, project.tree, config
        if self._beside is None or self._beside[0] != key:
            found = await beside_problems(self.root, config, project, connects=False)
            self._beside = key, found
        return self._beside[1]

    def forget_beside(self) -> None:
        """Look at Python modules once more: they have changed."""
        self._beside = None

    def stop(self) -> None:
        """Look at nothing until `look_later` is called: Node may be restarted."""
        self._beside = None
        self._checking.cancel("everything is built again")
