"""`.fx/types`, written without a check: by `fx build`, for editors and whoever reads it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import trio

from fxtrio.compile.bundling.installation import tool
from fxtrio.compile.project import CheckedProject
from fxtrio.config import Config
from fxtrio.tools.types.gather.gatherer_process import TypesUnknown, project_types
from fxtrio.tools.types.gather.page_types import ProjectTypes
from fxtrio.tools.types.report.compiler import PACKAGES
from fxtrio.tools.types.ui.extra_paths import other_paths
from fxtrio.tools.types.ui.virtual_project import TypesFolder


async def write_types(
    root: Path, config: Config, project: CheckedProject, report: Callable[[str], None]
) -> None:
    """Import the project in ``root`` in a process of its own, and write what its types are.

    A project that cannot be imported here keeps the types that it has; ``report`` gets a message.
    """
    try:
        types = await project_types(root, project)
    except TypesUnknown as error:
        report(f".fx/types is unchanged. {error}")
        return
    await trio.to_thread.run_sync(partial(_write, root, config, project, types))


def _write(root: Path, config: Config, project: CheckedProject, types: ProjectTypes) -> None:
    folder = TypesFolder(root, tool(*PACKAGES).folder)
    folder.write_facts(types)
    halves = folder.halves(project, types)
    typed = folder.typed()
    others = other_paths(root, config)
    folder.write_tier("loose", [half for half in halves if not typed(half)], types, others)
    folder.write_tier("strict", [half for half in halves if typed(half)], types, others)
