"""Types in `fx dev`: checked when a save is on the screen, reported in both places."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import attrs
import trio

from fxtrio.compile.problems import Problem, placed
from fxtrio.develop.build.outlines import CheckInput
from fxtrio.develop.report.diagnostic_dedup import NewProblems
from fxtrio.develop.report.overlay_errors import OverlayProblem, overlay_finding
from fxtrio.errors import FxtrioError, leaves

if TYPE_CHECKING:
    from fxtrio.compile.project import CheckedProject
    from fxtrio.tools.types.gather.gatherer_process import GathererProcess
    from fxtrio.tools.types.gather.page_types import ProjectTypes
    from fxtrio.tools.types.report.checking import TypeCheck
    from fxtrio.tools.types.report.tsc_server import TscServer

_NAME = "types"
_LATER = 0.5  # seconds after a change: the screen comes first
_IN_A_ROW = 2.0  # seconds between two saves of which the first is not checked
_LONGER = 3  # times: saves in a row are checked together

_CODE = "js jsx mjs cjs ts tsx mts cts json py"
_READ = frozenset({"", *(f".{kind}" for kind in _CODE.split())})
"""Kinds of files that a check reads; one without is a folder."""

Show = Callable[[list[OverlayProblem]], Awaitable[None]]


@attrs.define(eq=False)
class BackgroundTypecheck:
    """Checks the newest version, one after the other; runs its task in ``nursery``."""

    root: Path
    nursery: trio.Nursery
    report: Callable[[str], None]
    new_problems: NewProblems
    show: Show
    """Tells the browsers."""

    _checking: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    _turn: trio.Lock = attrs.field(factory=trio.Lock)
    """Held by the one that checks. It writes files in threads, which end later than their
    cancellation: two that write the same file would take it away from each other."""

    _check: TypeCheck | None = None
    _compiler: TscServer | None = None
    _gatherer: GathererProcess | None = None
    _types: ProjectTypes | None = None
    """None when the Python code is another one than that they were taken from."""

    _python: CheckedProject | None = None
    """The project with that Python code."""

    _gathered: tuple[CheckedProject, ProjectTypes] | None = None
    """The last types, after the project that they are of; None when modules have changed."""

    _newest: CheckInput | None = None
    """What was to be looked at last, besides the files that pages import."""

    _checked: CheckInput | None = None
    """What the findings are of; None when there are none, or imported files have changed."""

    _saved: float = -math.inf
    """When there was something to check the last time."""

    _exact: frozenset[str] = frozenset()
    """Page files that the findings depend on word by word."""

    _reported: tuple[Problem, ...] = ()
    _last_error: str = ""
    """Why nothing is checked; reported once."""

    def look_later(
        self,
        looked_at: CheckInput,
        files: Iterable[str] | None = None,
        *,
        after: float = _LATER,
    ) -> None:
        """Check ``looked_at``, unless there is a newer one meanwhile; tell each mistake once.

        ``files`` have changed, besides page files; None for any. When these are no code, such as
        stylesheets, there is nothing to check; nor is there when page files have other words
        alone. Begins ``after`` so many seconds, or later while one save follows another.
        """
        files = None if files is None else tuple(files)
        kinds = {PurePosixPath(file).suffix for file in files or ()}
        newest, self._newest = self._newest, looked_at
        if files is None or kinds & _READ:
            self._checked = None
        elif kinds and newest is not None and looked_at.is_same(newest):
            return
        elif self._checked and looked_at.looks_like(self._checked, exact=self._exact):
            self._checking.cancel("it is again as it was when it was checked")
            return
        if (kinds or files is None) and self._check is not None:
            self._forget(files)
        if files is None and self._gatherer is not None:  # the environment may be another one
            self._gatherer.stop()
        project, before = looked_at.project, self._python
        if ".py" in kinds or files is None:
            self._gathered = None
        if ".py" in kinds or before is None or not project.has_same_python(before):
            self._python, self._types = project, None
        self._checking.cancel("there is a newer version")
        self._checking = trio.CancelScope()
        saved, self._saved = self._saved, trio.current_time()
        if self._saved - saved < _IN_A_ROW:
            after *= _LONGER
        self.nursery.start_soon(self._look, self._checking, looked_at, after)

    def _forget(self, files: Iterable[str] | None) -> None:
        assert self._check is not None and self._compiler is not None
        self._check.forget()
        if files is None or any(file.startswith("node_modules/") for file in files):
            self._compiler.stop()
        else:
            self._compiler.forget(self.root / file for file in files)

    async def _look(self, scope: trio.CancelScope, looked_at: CheckInput, after: float) -> None:
        with scope:
            await trio.sleep(after)
            problems: tuple[Problem, ...] = ()
            errors: list[BaseException] = []
            try:
                async with self._turn:
                    problems = await self._problems(looked_at)
            except* (FxtrioError, OSError) as group:
                errors = leaves(group)
            if errors:
                if str(errors[0]) != self._last_error:
                    self._last_error = str(errors[0])
                    self.report(f"The types are not checked. {errors[0]}")
                return
            if scope.cancel_called:
                return
            assert self._check is not None  # it has found them
            self._checked = looked_at
            self._exact = self._check.findings_in | {one.path for one in problems}
            placed_problems = placed(problems, self.root)
            self.new_problems.report(_NAME, placed_problems)
            before, self._reported = self._reported, placed_problems
            if before != self._reported:
                await self.show([overlay_finding(one, self.root) for one in problems])

    async def _problems(self, looked_at: CheckInput) -> tuple[Problem, ...]:
        # Heavy, and nothing of it is needed before something is on the screen.
        from fxtrio.tools.types.gather.gatherer_process import GathererProcess
        from fxtrio.tools.types.report.checking import TypeCheck
        from fxtrio.tools.types.report.compiler import ensure_compiler
        from fxtrio.tools.types.report.tsc_server import TscServer
        from fxtrio.tools.types.ui.extra_paths import other_paths
        from fxtrio.tools.types.ui.virtual_project import TypesFolder

        if self._check is None:
            compiler = await ensure_compiler(self.report)
            self._compiler = TscServer(self.nursery)
            folder = TypesFolder(self.root, compiler)
            self._check = TypeCheck(folder, compile=self._compiler.compile)
        types = self._types
        if types is None:
            if self._gatherer is None:
                self._gatherer = GathererProcess(self.root, self.nursery)
            if self._gathered is None:
                types = await self._gatherer.types(looked_at.project)
            else:
                types = await self._gatherer.newer_types(looked_at.project, *self._gathered)
            self._types, self._gathered = types, (looked_at.project, types)
        self._check.others = await trio.to_thread.run_sync(other_paths, self.root, looked_at.config)
        return await self._check.run(looked_at.project, types)
