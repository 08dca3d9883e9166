"""What is wrong beside the pages of a project, found without importing its code."""

from __future__ import annotations

from pathlib import Path

import trio

from fxtrio.cli.extras import missing_extras
from fxtrio.cli.trial.migrations import migration_problems
from fxtrio.cli.unguarded import unguarded_problems
from fxtrio.compile.foreign import foreign_problems
from fxtrio.compile.kinds import FindingKind
from fxtrio.compile.problems import Problem, config_problems, placed
from fxtrio.compile.project import CheckedProject
from fxtrio.compile.surroundings import surrounding_problems
from fxtrio.compile.unreached import unreached_not_found
from fxtrio.config import Config, locate


async def beside_problems(
    root: Path, config: Config, project: CheckedProject, *, connects: bool
) -> list[Problem]:
    """Return problems of packages, migrations, open endpoints, extras, boundaries and foreign
    code, `placed`.

    With ``connects`` a database is asked which migrations it has run.
    """
    around = await trio.to_thread.run_sync(surrounding_problems, root, config)
    foreign = await trio.to_thread.run_sync(foreign_problems, root, config, project)
    migrations = await migration_problems(root, config, connects=connects)
    open_ones = locate(unguarded_problems(config, project.tree.api), root)
    missing = locate(missing_extras(config), root)
    return [
        *placed([*around, *unreached_not_found(project), *foreign, *migrations], root),
        *config_problems(open_ones, FindingKind.UNGUARDED),
        *config_problems(missing, FindingKind.EXTRAS),
    ]
