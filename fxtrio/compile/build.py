"""A project in, a build folder out: generated Python, bundles, the manifest.

The folder is created beside the old one and takes its place at the end, so a build
that fails leaves the previous one as it was. What that one's visitors and servers may still
need is in the new one, too (`previous_build`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import attrs
import trio
from msgspec.structs import replace

from fxtrio.atomic_write import write_new
from fxtrio.build_folder import require_no_link
from fxtrio.compile.build_steps import (
    bundle_plan,
    checked_project,
    digest,
    make_manifest,
    planned_site,
    write_halves,
)
from fxtrio.compile.bundling.bundle import BundlePlan, BundleResult, bundle
from fxtrio.compile.bundling.bundle_errors import BundleFailed, BundleProblem
from fxtrio.compile.bundling.early_bundler import EarlyBundler
from fxtrio.compile.bundling.installation import is_whole, toolchain_folder
from fxtrio.compile.bundling.toolchain import ensure_toolchain
from fxtrio.compile.check.problem_kinds import Severity
from fxtrio.compile.check.ui_code import UiProblems, ui_problems
from fxtrio.compile.problems import CompileFailed, Problem, placed
from fxtrio.compile.project import CheckedProject, check_project
from fxtrio.compile.publish.previous_build import take_over
from fxtrio.compile.publish.replace_folder import open_staging, put_in_place
from fxtrio.compile.scripts import REASONS, dump_reasons, required_scripts
from fxtrio.compile.views import PlannedSite
from fxtrio.config import Config
from fxtrio.errors import FxtrioError
from fxtrio.manifest import FILE_NAME, FOLDERS, Manifest, Mode, dump_manifest

Report = Callable[[str], None]
Look = Callable[[CheckedProject], Awaitable[list[Problem]]]
"""Returns the problems beside the pages of a project, `placed`."""
Finish = Callable[[Path, Manifest, BundleResult], None]


@attrs.frozen
class Build:
    """A finished build."""

    folder: Path
    manifest: Manifest
    bundle: BundleResult
    warnings: tuple[Problem, ...] = ()
    """Mistakes in UI code for which pages fail unless there is more to it."""


async def build_project(
    root: Path,
    config: Config,
    *,
    mode: Mode,
    report: Report,
    finish: Finish | None = None,
    look: Look | None = None,
    early: EarlyBundler | None = None,
) -> Build:
    """Build the project in ``root`` into its build folder.

    ``report`` gets a line for each step. ``finish`` is called in a thread with the folder,
    before it is put in place, its manifest and the result of the bundler; what ``look`` finds
    fails the build if it is an error, and is a warning of it else. ``early`` is the bundler if it
    has been started. Raises CompileFailed with every problem of every file, BundleFailed,
    ToolchainFailed, NodeMissing and LinkInTheWay.
    """
    root = await trio.to_thread.run_sync(root.resolve)
    target = require_no_link(root, FOLDERS[mode])
    report("Checking the pages")
    project = await trio.to_thread.run_sync(check_project, root, config)
    beside = [] if look is None else await look(project)
    errors = [one for one in beside if one.severity is Severity.ERROR]
    errors += placed(project.problems, root)
    if errors:
        if mode == "production":
            errors += await _client_errors(root, project)
        raise CompileFailed(tuple(sorted(errors)))
    site = planned_site(project)
    toolchain = await ensure_toolchain(report)
    stack = ExitStack()
    staging = await trio.to_thread.run_sync(stack.enter_context, open_staging(target))
    try:
        await trio.to_thread.run_sync(write_halves, project.pages, staging, write_new)
        report("Bundling")
        seed = await trio.to_thread.run_sync(digest, staging)
        plan = bundle_plan(root, staging, project, site, config, mode, seed=seed)
        result, warnings = await _bundle(plan, project, toolchain, early)
        manifest = await trio.to_thread.run_sync(
            _finish, project, site, config, mode, result, staging
        )
        wrong = [*result.island_mistakes, *required_scripts(manifest, result)]
        if wrong:
            raise CompileFailed(placed(wrong, root))
        if finish is not None:
            await trio.to_thread.run_sync(finish, staging, manifest, result)
        if mode == "production":  # nobody stays on a build of `fx dev`
            take = partial(take_over, target, staging, build_id=manifest.build_id)
            await trio.to_thread.run_sync(take)
        await trio.to_thread.run_sync(put_in_place, staging, target)
    finally:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + 10):
            await trio.to_thread.run_sync(stack.close)
    return Build(target, manifest, result, tuple(sorted([*beside, *placed(warnings, root)])))


async def _client_errors(root: Path, project: CheckedProject) -> tuple[Problem, ...]:
    """Return the errors of client code of a project that has others, and is not bundled.

    Nobody waits for an installation to see them, and a failure of this look would hide the
    errors that are known.
    """
    toolchain = toolchain_folder()
    if not await trio.to_thread.run_sync(is_whole, toolchain):
        return ()
    try:
        found = await ui_problems(root, project, toolchain)
    except (FxtrioError, OSError):
        return ()
    return placed(found.certain, root)


async def _bundle(
    plan: BundlePlan, project: CheckedProject, toolchain: Path, early: EarlyBundler | None
) -> tuple[BundleResult, tuple[Problem, ...]]:
    """Bundle, look for mistakes in UI code meanwhile, and return those that are no failure.

    During development those are all that the bundler has nothing against: whoever writes a
    form before its action wants to see it. Raises BundleFailed, with what both have found, and
    CompileFailed.
    """
    found: list[UiProblems] = []

    async def look() -> None:
        found.append(await ui_problems(plan.root, project, toolchain))

    result: BundleResult | FxtrioError
    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        try:
            result = await bundle(plan, toolchain=toolchain, early=early)
        except BundleFailed as error:
            result = error
        except FxtrioError as error:  # to be raised as it is, and not in a group
            result = error
            nursery.cancel_scope.cancel()
    if isinstance(result, BundleFailed) and plan.mode == "production":
        raise _with_others(result, placed(found[0].certain, plan.root))
    if isinstance(result, FxtrioError):
        raise result
    [problems] = found
    if problems.certain and plan.mode == "production":
        raise CompileFailed(placed(problems.certain, plan.root))
    return result, (*problems.certain, *problems.likely, *result.island_doubts)


def _with_others(failed: BundleFailed, certain: tuple[Problem, ...]) -> BundleFailed:
    """Return a failure with the mistakes that the bundler does not look for.

    Of a file that does not parse, those of the checks count: they know the place.
    """
    broken = {problem.path for problem in certain if problem.frame}
    bundled = [problem for problem in failed.problems if problem.path not in broken]
    lines = {(problem.path, problem.line) for problem in bundled}
    others = [
        BundleProblem(*place, problem.text, problem.frame)
        for problem in certain
        if (place := (problem.path, problem.line, problem.column))[:2] not in lines
    ]
    return BundleFailed(tuple(sorted([*bundled, *others])))


def compile_server(root: Path, config: Config, folder: Path, *, mode: Mode) -> Manifest:
    """Write only the Python half of the project in ``root`` into ``folder``.

    For tests that render nothing: no Node, no bundles. Raises CompileFailed.
    """
    project = checked_project(root, config)
    write_halves(project.pages, folder)
    return _finish(project, planned_site(project), config, mode, None, folder)


def _finish(
    project: CheckedProject,
    site: PlannedSite,
    config: Config,
    mode: Mode,
    result: BundleResult | None,
    folder: Path,
) -> Manifest:
    """Write the manifest into ``folder``."""
    manifest = make_manifest(project, site, config, mode, result)
    if result is None:
        manifest = replace(manifest, build_id=digest(folder))
    else:
        server = _name_renderer(folder, result)
        (folder / REASONS).write_bytes(dump_reasons(manifest, result))
        manifest = replace(manifest, assets=replace(manifest.assets, server=server))
    (folder / FILE_NAME).write_bytes(dump_manifest(manifest))
    return manifest


def _name_renderer(folder: Path, result: BundleResult) -> str:
    """Give the SSR bundle a folder of its build's own, and return its path in ``folder``.

    So a server that was started on one build never renders with the bundle of another.
    """
    name = f"ssr-{result.build_id}"
    (folder / "ssr").rename(folder / name)
    return f"{name}/{result.server}"
