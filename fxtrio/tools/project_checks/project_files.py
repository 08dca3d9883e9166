"""What is wrong beside the pages of a project, found without importing its code."""

from __future__ import annotations

from pathlib import Path

import trio

from fxtrio.compile.check.module_code import module_problems
from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.check.project_checks import surrounding_problems
from fxtrio.compile.check.unreachable_boundaries import unreached_not_found
from fxtrio.compile.problems import Problem, config_problems, placed
from fxtrio.compile.project import CheckedProject
from fxtrio.config import Config, locate
from fxtrio.tools.project_checks.migrations import migration_problems
from fxtrio.tools.project_checks.missing_extras import missing_extras
from fxtrio.tools.project_checks.unguarded_routes import unguarded_problems


async def beside_problems(
    root: Path, config: Config, project: CheckedProject, *, connects: bool
) -> list[Problem]:
    """Return problems of packages, migrations, open endpoints, extras, boundaries, and of the
    modules that pages use, `placed`.

    With ``connects`` a database is asked which migrations it has run.
    """
    around = await trio.to_thread.run_sync(surrounding_problems, root, config)
    modules = await trio.to_thread.run_sync(module_problems, root, config, project)
    migrations = await migration_problems(root, config, connects=connects)
    open_ones = locate(unguarded_problems(config, project.tree.api), root)
    missing = locate(missing_extras(config), root)
    return [
        *placed([*around, *unreached_not_found(project), *modules, *migrations], root),
        *config_problems(open_ones, FindingKind.UNGUARDED),
        *config_problems(missing, FindingKind.EXTRAS),
    ]
