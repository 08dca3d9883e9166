"""What `fx dev` checks when a save is on the screen: mistakes in UI code and modules, and types."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import trio

from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.problems import Problem
from fxtrio.compile.project import CheckedProject
from fxtrio.config import Config
from fxtrio.develop.build.background_lint import BackgroundLint
from fxtrio.develop.build.background_typecheck import BackgroundTypecheck
from fxtrio.develop.build.outlines import Outlines
from fxtrio.develop.reload.classify_changes import Sorted
from fxtrio.develop.report.diagnostic_dedup import NewProblems
from fxtrio.develop.report.overlay_errors import OverlayProblem


class BackgroundChecks:
    """The checks of one project. Where two find the same mistake, it is reported once."""

    def __init__(
        self,
        root: Path,
        nursery: trio.Nursery,
        report: Callable[[str], None],
        found: Callable[[Problem], None],
        *,
        look: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]],
        show: Callable[[str, list[OverlayProblem]], Awaitable[None]],
    ) -> None:
        """Check nothing yet; checks will run in ``nursery``.

        ``found`` shows a mistake in the terminal, ``show`` all mistakes of a check in browsers;
        ``look`` lets Node read UI code.
        """
        self._root = root
        self._outlines = Outlines()
        news = NewProblems(found)
        self._lint = BackgroundLint(root, nursery, report, news, look, partial(show, "mistakes"))
        self._types = BackgroundTypecheck(root, nursery, report, news, partial(show, "types"))

    def begin(self, project: CheckedProject, config: Config, toolchain: Path) -> None:
        """Check the whole project, at once."""
        looked_at = self._outlines.check_input(project, config)
        self._lint.look_later(looked_at, toolchain, after=0)
        self._types.look_later(looked_at, after=0)

    def note(self, pages: Mapping[str, CheckedPage], outlines: Mapping[str, str | None]) -> None:
        """Remember what checks see of ``pages`` that have changed, both by source."""
        self._outlines.note(pages, outlines)

    def check_later(
        self,
        project: CheckedProject,
        config: Config,
        toolchain: Path,
        found: Sorted,
        outlines: Mapping[str, str | None],
        *,
        pages_changed: bool,
    ) -> None:
        """Check a project in which the files ``found`` have changed, if checks may see that."""
        looked_at = self._outlines.check_input(project, config)
        files = self._outlines.seen_otherwise(found.files, outlines, self._root)
        files = tuple(one for one in found.files if one in files or one in self._lint.exact)
        if found.modules:
            self._lint.forget_beside()
        if pages_changed or files:
            self._lint.look_later(looked_at, toolchain, files)
        if pages_changed or files or found.modules:
            self._types.look_later(looked_at, (*files, *found.modules))

    def stop(self) -> None:
        """Look at UI code no more until `begin`: Node may be restarted."""
        self._lint.stop()
