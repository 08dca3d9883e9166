"""The index of each project: its files, the types that its Python halves give, and what in
its UI halves does not fit them.

It is found when a project is opened and after each save, from saved files: code that is
being written is never run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import attrs
import trio

from fxtrio.compile.problems import Problem
from fxtrio.compile.project import CheckedProject, CheckedTexts, check_project
from fxtrio.config import Config, read_config
from fxtrio.tools.lsp.checks.type_checks import TypeChecks
from fxtrio.tools.types.gather.gatherer_process import TypesUnknown, project_types
from fxtrio.tools.types.gather.page_types import PageTypes, ProjectTypes
from fxtrio.tools.types.ui.virtual_project import FOLDER, TypesFolder

Take = Callable[[Path, str, list[Problem]], Awaitable[None]]
"""Takes the problems of a project that one kind of check has found."""

FIRST_WAIT = 10.0
"""How long a question waits for a project that was just opened (seconds)."""


@attrs.frozen(eq=False)
class KnownProject:
    """One project, as it was saved."""

    project: CheckedProject
    types: ProjectTypes
    """Nothing is known of any file where the project's code is not imported."""

    @property
    def halves(self) -> dict[str, str]:
        """The Python halves that the types are of, by source."""
        return {page.module.source: page.python for page in self.project.pages}

    @property
    def numbers(self) -> dict[str, int]:
        """The number of each page file, by its source."""
        return {page.module.source: number for number, page in enumerate(self.project.pages)}

    @property
    def sources(self) -> dict[str, str]:
        """The source of each page, by its pattern."""
        return {page.pattern: page.source for page in self.project.tree.pages}


class ProjectIndex:
    """Knows the projects that `refresh` names. ``imports`` tells whether code may run."""

    def __init__(self, report: Callable[[str], None], take: Take) -> None:
        self.imports = True
        self._report = report
        self._take = take
        self._checks = TypeChecks(report)
        self._checking = trio.CancelScope()
        self._known: dict[Path, KnownProject] = {}
        self._texts: dict[Path, CheckedTexts] = defaultdict(CheckedTexts)
        self._stale: dict[Path, None] = {}
        self._checked: set[Path] = set()  # at least once
        self._reimported: set[Path] = set()
        self._wake = trio.Event()
        self._learned = trio.Event()

    def of(self, root: Path) -> KnownProject | None:
        """Return the index of a project by now."""
        return self._known.get(root)

    @property
    def roots(self) -> list[Path]:
        """The projects of which something is known."""
        return list(self._known)

    async def wait_first(self, root: Path) -> None:
        """Wait until something is known of a project, for a while at most."""
        with trio.move_on_after(FIRST_WAIT):
            while root not in self._known:
                await self._learned.wait()

    async def wait_checked(self, root: Path) -> None:
        """Wait until the types of a project have been checked once, if they are at all."""
        while self.is_starting(root):
            await self._learned.wait()

    def is_starting(self, root: Path) -> bool:
        """Whether the types of a project are still being read for the first time."""
        return root not in self._known or (self.imports and root not in self._checked)

    def page(self, root: Path, source: str) -> PageTypes:
        """Return the types of a file; all of them are unknown while nothing is inferred."""
        known = self._known.get(root)
        found = None if known is None else known.types.page(source)
        return found or PageTypes(source, "page")

    def types_folder(self, root: Path, name: Path = FOLDER) -> TypesFolder | None:
        """Return a folder for the files of UI halves; None before the compiler is installed."""
        home = self._checks.home
        return None if home is None else TypesFolder(root, home, name)

    def other_paths(self, root: Path) -> Sequence[str]:
        """Return the paths that the app answers besides its pages, as the last check had them."""
        return self._checks.other_paths(root)

    def typescript_server(self) -> list[str]:
        """Return the command of the server in fxtrio's TypeScript; [] before it is installed."""
        compiler = self._checks.compiler
        return [] if compiler is None else [str(compiler), "--lsp", "--stdio"]

    def refresh(self, root: Path, *, pages_only: bool = False) -> None:
        """Read a project again.

        With ``pages_only`` nothing else has changed: what its Python code gives stays as it is
        while that of the pages does.
        """
        self._stale[root] = None
        if not pages_only:
            self._reimported.add(root)
        self._wake.set()
        self._checking.cancel("there is something new to know")

    async def run(self) -> None:
        """Find out what `refresh` asks for, until cancelled."""
        while True:
            while self._stale:
                root = next(iter(self._stale))
                del self._stale[root]
                config, _ = await trio.to_thread.run_sync(read_config, root)
                known = self._known[root] = await self._find(root, config)
                self._tell()
                if self.imports:
                    await self._check(root, config, known)
            self._wake = trio.Event()
            await self._wake.wait()

    def _tell(self) -> None:
        self._learned.set()
        self._learned = trio.Event()

    async def _find(self, root: Path, config: Config) -> KnownProject:
        before = self._known.get(root)
        texts = self._texts[root]
        project = await trio.to_thread.run_sync(check_project, root, config, texts)
        types = ProjectTypes()
        if root in self._reimported or before is None or not before.types.pages:
            before = None
        self._reimported.discard(root)
        if before is not None and project.has_same_python(before.project):
            types = before.types
        elif self.imports:
            try:
                types = await project_types(root, project)
            except TypesUnknown as error:
                self._report(str(error))
        return KnownProject(project, types)

    async def _check(self, root: Path, config: Config, known: KnownProject) -> None:
        """Check types until there is something new to know."""
        project = known.project
        with trio.CancelScope() as self._checking:
            if self._stale:
                return
            found = await self._checks.ui_problems(root, config, project, known.types)
            self._checked.add(root)
            self._tell()
            if found is not None:
                await self._take(root, "types", found)
            found = await self._checks.python_problems(root, project)
            if found is not None:
                await self._take(root, "python", found)
