"""What `fx typecheck` finds, as soon as the types of a saved project are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import trio

from fxtrio.build_folder import LinkInTheWay
from fxtrio.compile.bundling.toolchain import ToolchainFailed
from fxtrio.compile.problems import Problem
from fxtrio.compile.project import CheckedProject
from fxtrio.config import Config
from fxtrio.node import NodeMissing
from fxtrio.tools.types.gather.page_types import ProjectTypes
from fxtrio.tools.types.report.checking import TypeCheck
from fxtrio.tools.types.report.compiler import CompilerFailed, compiler_program, ensure_compiler
from fxtrio.tools.types.report.python_checkers import CheckerFailed, check_python_halves
from fxtrio.tools.types.ui.extra_paths import other_paths
from fxtrio.tools.types.ui.virtual_project import TypesFolder


class TypeChecks:
    """Checks the types of saved projects; keeps what it has read of files that stay the same."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._checks: dict[Path, TypeCheck] = {}
        self.home: Path | None = None
        """Where TypeScript is installed, once it is."""

        self.compiler: Path | None = None
        """Its native compiler."""

    def other_paths(self, root: Path) -> Sequence[str]:
        """Return the paths that the app answers besides its pages, as the last check had them."""
        check = self._checks.get(root)
        return () if check is None else check.others

    async def ui_problems(
        self, root: Path, config: Config, project: CheckedProject, types: ProjectTypes
    ) -> list[Problem] | None:
        """Return what does not fit in the UI halves; None when it could not be found out."""
        try:
            check = self._checks.get(root)
            if check is None:
                compiler = self.home = await ensure_compiler(self._report)
                self.compiler = compiler_program(compiler)
                check = self._checks[root] = TypeCheck(TypesFolder(root, compiler))
            check.forget()
            check.others = await trio.to_thread.run_sync(other_paths, root, config)
            return list(await check.run(project, types))
        except (NodeMissing, ToolchainFailed, CompilerFailed, LinkInTheWay) as error:
            self._report(f"Types are not checked. {error}")
            return None

    async def python_problems(self, root: Path, project: CheckedProject) -> list[Problem] | None:
        """Return what the project's own checker says of the Python halves; None as above."""
        try:
            return await check_python_halves(root, project, self._report)
        except (CheckerFailed, LinkInTheWay) as error:
            self._report(str(error))
            return None
