"""What is wrong beside the pages of a project, found without importing its code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import trio

from fxtrio.cli.extras import missing_extras
from fxtrio.cli.trial.migrations import migration_problems
from fxtrio.cli.unguarded import unguarded_problems
from fxtrio.compile.kinds import FindingKind
from fxtrio.compile.problems import Problem, config_problems, placed
from fxtrio.compile.surroundings import surrounding_problems
from fxtrio.config import Config, locate
from fxtrio.routes import ApiFile


async def beside_problems(
    root: Path, config: Config, endpoints: Sequence[ApiFile], *, connects: bool
) -> list[Problem]:
    """Return problems of packages, migrations, open endpoints and extras, `placed`.

    With ``connects`` a database is asked which migrations it has run.
    """
    around = await trio.to_thread.run_sync(surrounding_problems, root, config)
    migrations = await migration_problems(root, config, connects=connects)
    open_ones = locate(unguarded_problems(config, endpoints), root)
    missing = locate(missing_extras(config), root)
    return [
        *placed([*around, *migrations], root),
        *config_problems(open_ones, FindingKind.UNGUARDED),
        *config_problems(missing, FindingKind.EXTRAS),
    ]
