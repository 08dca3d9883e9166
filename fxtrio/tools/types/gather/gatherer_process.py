"""Types of a project, from a process that imports it: one for each question, or one that stays."""

from __future__ import annotations

import pickle
from pathlib import Path

import attrs
import msgspec
import trio
from msgspec.structs import replace

from fxtrio.compile.project import CheckedProject
from fxtrio.errors import PlacedError
from fxtrio.tools.project_process.fork_server import CAN_FORK, ForkServer
from fxtrio.tools.project_process.process import LIMIT, Outcome, run_in_process, run_order
from fxtrio.tools.project_process.start import ProjectProcess
from fxtrio.tools.types.gather.page_types import ProjectTypes, load_types

TASK = "fxtrio.tools.types.gather.gatherer_child"


class TypesUnknown(PlacedError):
    """The process that imports a project for its types ended without an answer."""

    remedy = "Run 'fx check', which reports the cause"

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(
            "types", f"importing the project {outcome.ending()}", output=outcome.printed
        )
        self.code = outcome.code
        self.output = outcome.printed


async def project_types(
    root: Path, project: CheckedProject, process: ProjectProcess | None = None
) -> ProjectTypes:
    """Return the types of the project in ``root``, imported in a process of its own.

    That is ``process``, one for `TASK`, if there is one by now. Cancelling it kills the process.
    Raises TypesUnknown.
    """
    order = _order(root, project)
    if process is None:
        return _types(await run_in_process(root, TASK, order))
    return _types(await run_order(process, order))


@attrs.define(eq=False)
class GathererProcess:
    """Asks about the project in ``root``, in a process that stays in ``nursery``.

    Where no process can be forked, one starts for each question.
    """

    root: Path
    nursery: trio.Nursery
    limit: float = LIMIT
    _server: ForkServer = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._server = ForkServer(self.root, TASK, self.nursery)

    async def types(self, project: CheckedProject) -> ProjectTypes:
        """Return what `project_types` does. Cancelling it ends the process. Raises TypesUnknown."""
        if not CAN_FORK:
            return await project_types(self.root, project)
        order = _order(self.root, project)
        return _types(await self._server.run_order(order, limit=self.limit))

    async def newer_types(
        self, project: CheckedProject, before: CheckedProject, known: ProjectTypes
    ) -> ProjectTypes:
        """Return what `types` does, if ``known`` are the types of ``before``.

        No module that page files import has changed since. What says the same is the same object.
        """
        changed = project.changed_python(before)
        pages = known.by_source()
        if changed is None or any(
            source not in pages or pages[source].kind != "page" for source in changed
        ):
            return await self.types(project)  # a layout is part of the types of others
        needed = {*changed, *(layout for source in changed for layout in pages[source].layouts)}
        imported = tuple(page for page in project.pages if page.module.source in needed)
        found = (await self.types(attrs.evolve(project, pages=imported, actions=()))).by_source()
        if any(found[source].layouts != pages[source].layouts for source in changed):
            return await self.types(project)
        other = {source: found[source] for source in changed if found[source] != pages[source]}
        if not other:
            return known
        newer = tuple(other.get(page.source, page) for page in known.pages)
        return replace(known, pages=newer)

    def stop(self) -> None:
        """End the process: its environment has changed. The next question starts another one."""
        self._server.stop()


def _order(root: Path, project: CheckedProject) -> bytes:
    """Return the order for another process, without problems: some cannot be pickled."""
    tree = attrs.evolve(project.tree, problems=())
    return pickle.dumps((root, attrs.evolve(project, tree=tree, problems=())))


def _types(outcome: Outcome) -> ProjectTypes:
    try:
        return load_types(outcome.answer)
    except msgspec.DecodeError as error:
        raise TypesUnknown(outcome) from error
