"""Runs the child that imports a project, and reads what it has found."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import trio

from fxtrio.cli.import_check.collection_checks import reads_collections
from fxtrio.cli.import_check.messages import IMPORT_TIMEOUT, Findings, Order, Page, read_lines
from fxtrio.compile.check.problem_kinds import FindingKind
from fxtrio.compile.problems import Problem, config_problems, placed
from fxtrio.compile.project import CheckedProject, check_project
from fxtrio.config import Config, locate
from fxtrio.config.errors import ConfigProblem
from fxtrio.errors import PlacedError
from fxtrio.routes.action_files import PREFIX
from fxtrio.routes.suffixes import MARKDOWN_SUFFIX
from fxtrio.tools.project_process.process import run_in_process

_WHOLE = 6 * IMPORT_TIMEOUT  # then something cannot be interrupted, or many imports wait in vain
_LAST_LINES = 3
_TASK = "fxtrio.cli.import_check.child"


class TrialCrashed(PlacedError):
    """The process in which `fx check` imports a project ended before it began: a defect."""

    remedy = "Report this with the lines below; --static works without it"

    def __init__(self, code: int | None, output: str) -> None:
        cause = f"the process that imports the project ended with {code}"
        super().__init__("fx check", cause, output=output)


def order_of(
    root: Path,
    project: CheckedProject,
    config: Config,
    *,
    app: str,
    has_app: bool = False,
    timeout: float = IMPORT_TIMEOUT,
) -> Order:
    """Return what of a checked project can be imported: the files without problems."""
    endpoint_patterns = (api.pattern for api in project.tree.api)
    broken = {problem.path for problem in project.problems}
    endpoints = (api.source for api in project.tree.api)
    hooks = project.tree.llms.values() if config.llms.enabled else ()
    return Order(
        root=str(root),
        app=app,
        pages=tuple(
            Page(module=page.module, python=page.python)
            for page in project.pages
            if page.module.code is not None and page.module.source not in broken
        ),
        endpoints=tuple(source for source in endpoints if source not in broken),
        hooks=tuple(source for source in hooks if source not in broken),
        actions=tuple(module for module in project.actions if module.source not in broken),
        routes=(
            *(page.pattern for page in project.tree.pages),
            *endpoint_patterns,
            *(PREFIX + name for name in project.shared_actions),
        ),
        has_app=has_app,
        timeout=timeout,
    )


async def find_causes(root: Path, config: Config) -> list[Problem]:
    """Return why the code of a project cannot be imported, as `fx check` reports it.

    For a command that has failed where another process imports the project.
    """
    project = await trio.to_thread.run_sync(check_project, root, config)
    found = await try_application(order_of(root, project, config, app=""))
    placed_problems = placed([*project.problems, *found.problems], root)
    return [*found_settings(root, found), *placed_problems]


async def try_settings(root: Path, config: Config) -> list[Problem]:
    """Return the problems of the plugins' settings, as `fx check` reports them.

    Only what the settings name is imported, in a process of its own; what such an import
    raises is left to `fx check`.
    """
    if not config.plugins:
        return []
    order = Order(root=str(root), app="", pages=(), endpoints=(), hooks=())
    return found_settings(root, await try_application(order))


async def try_front_matter(root: Path, project: CheckedProject) -> list[Problem]:
    """Return the problems of the front matter of Markdown files, as `fx check` reports them.

    Only the models of pages are imported; in a project that reads collections, all pages and
    endpoints. What these raise is left to `fx check`: they may need the server's settings.
    """
    pages = [
        Page(module=page.module, python=page.python)
        for page in project.pages
        if page.module.code is not None
    ]
    written = [page for page in pages if page.module.source.endswith(MARKDOWN_SUFFIX)]
    order = partial(Order, root=str(root), app="", hooks=())
    problems: list[Problem] = []
    if written:
        problems += (await try_application(order(pages=tuple(written), endpoints=()))).problems
    if await trio.to_thread.run_sync(reads_collections, root, project):
        others = tuple(page for page in pages if page not in written)
        endpoints = tuple(api.source for api in project.tree.api)
        found = await try_application(order(pages=others, endpoints=endpoints))
        problems += [one for one in found.problems if one.path.endswith(MARKDOWN_SUFFIX)]
    return [*placed(dict.fromkeys(problems), root)]


def found_settings(root: Path, findings: Findings) -> list[Problem]:
    """Return the settings that were found unusable, or not set, at their places."""
    found: list[Problem] = []
    for missing, kind in ((False, FindingKind.SETTINGS), (True, FindingKind.ENVIRONMENT)):
        problems = [
            ConfigProblem(place="", key=one.key, cause=one.cause)
            for one in findings.settings
            if one.missing is missing
        ]
        found += config_problems(locate(problems, root), kind)
    return found


async def try_application(order: Order, *, limit: float = _WHOLE) -> Findings:
    """Import a project in a process of its own, and return its problems.

    ``limit`` is for all imports together (seconds); the process is killed after it.
    Cancelling it kills the process too. Raises TrialCrashed for a defect.
    """
    outcome = await run_in_process(Path(order.root), _TASK, order.to_json(), limit=limit)
    last, findings = read_lines(outcome.answer)
    if findings is not None:
        return findings
    if not last:
        raise TrialCrashed(outcome.code, outcome.printed)
    lines = [line.strip() for line in outcome.printed.splitlines() if line.strip()]
    printed = f"; it wrote: {' | '.join(lines[-_LAST_LINES:])}" if lines else ""
    how = outcome.ending().replace("ended with", "ended the process with")
    message = f"importing it {how}{printed}"
    return Findings((Problem(last, 0, 0, message, "Do such work in a plugin"),))
