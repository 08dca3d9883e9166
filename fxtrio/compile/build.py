"""A project in, a build folder out: generated Python, bundles, the manifest.

The folder is made beside the old one and takes its place at the end, so a build
that fails leaves the previous one as it was. What that one's visitors and servers may still
need is in the new one, too (`former`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import attrs
import trio

from fxtrio.compile.bundle import BundlePlan, BundleResult, BundleView, bundle
from fxtrio.compile.former import take_over
from fxtrio.compile.problems import CompileFailed, Problem, placed
from fxtrio.compile.project import CheckedProject, check_project
from fxtrio.compile.swap import make_staging, put_in_place, remove
from fxtrio.compile.toolchain import ensure_toolchain
from fxtrio.compile.ui import UiProblems, ui_problems
from fxtrio.compile.views import PlannedSite, PlannedView, plan_site
from fxtrio.config import Config
from fxtrio.errors import FxtrioError
from fxtrio.manifest import (
    FILE_NAME,
    FOLDERS,
    ApiRoute,
    Assets,
    Manifest,
    Mode,
    PageRoute,
    View,
    dump_manifest,
)

Report = Callable[[str], None]
Finish = Callable[[Path, Manifest], None]


@attrs.frozen
class Build:
    """A finished build."""

    folder: Path
    manifest: Manifest
    bundle: BundleResult
    warnings: tuple[Problem, ...] = ()
    """Mistakes in UI code for which pages fail unless there is more to it."""


async def build_project(
    root: Path, config: Config, *, mode: Mode, report: Report, finish: Finish | None = None
) -> Build:
    """Build the project in ``root`` into its build folder.

    ``report`` gets a line for each step. ``finish`` is called in a thread with the folder,
    before it is put in place, and its manifest. Raises CompileFailed with every problem of
    every file, BundleFailed, ToolchainFailed and NodeMissing.
    """
    root = await trio.to_thread.run_sync(root.resolve)
    report("Checking the pages")
    project = await trio.to_thread.run_sync(_checked, root, config)
    site = _site(project)
    toolchain = await ensure_toolchain(report)
    target = root / FOLDERS[mode]
    staging = await trio.to_thread.run_sync(make_staging, target)
    try:
        await trio.to_thread.run_sync(_write_halves, project, staging)
        report("Bundling")
        plan = BundlePlan(
            root=root,
            staging=staging,
            base=f"{config.base_url}/_fx/",
            mode=mode,
            modules=project.tree.sources,
            views=tuple(_bundle_view(view) for view in site.views),
            seed=await trio.to_thread.run_sync(_digest, staging),
        )
        result, warnings = await _bundle(plan, project, toolchain)
        manifest = await trio.to_thread.run_sync(
            _finish, project, site, config, mode, result, staging
        )
        if finish is not None:
            await trio.to_thread.run_sync(finish, staging, manifest)
        if mode == "production":  # nobody stays on a build of `fx dev`
            take = partial(take_over, target, staging, build_id=manifest.build_id)
            await trio.to_thread.run_sync(take)
        await trio.to_thread.run_sync(put_in_place, staging, target)
    finally:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + 10):
            await trio.to_thread.run_sync(remove, staging)
    return Build(target, manifest, result, placed(warnings, root))


async def _bundle(
    plan: BundlePlan, project: CheckedProject, toolchain: Path
) -> tuple[BundleResult, tuple[Problem, ...]]:
    """Bundle, look for mistakes in UI code meanwhile, and return those that are no failure.

    During development those are all that the bundler has nothing against: whoever writes a
    form before its action wants to see it. Raises BundleFailed, and CompileFailed.
    """
    found: list[UiProblems] = []

    async def look() -> None:
        found.append(await ui_problems(plan.root, project, toolchain))

    result: BundleResult | FxtrioError
    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        try:
            result = await bundle(plan, toolchain=toolchain)
        except FxtrioError as error:  # to be raised as it is, and not in a group
            result = error
            nursery.cancel_scope.cancel()
    if isinstance(result, FxtrioError):
        raise result
    [problems] = found
    if problems.certain and plan.mode == "production":
        raise CompileFailed(placed(problems.certain, plan.root))
    return result, (*problems.certain, *problems.likely)


def compile_server(root: Path, config: Config, folder: Path, *, mode: Mode) -> Manifest:
    """Write only the Python half of the project in ``root`` into ``folder``.

    For tests that render nothing: no Node, no bundles. Raises CompileFailed.
    """
    project = _checked(root, config)
    _write_halves(project, folder)
    return _finish(project, _site(project), config, mode, None, folder)


def _checked(root: Path, config: Config) -> CheckedProject:
    project = check_project(root, config)
    if project.problems:
        raise CompileFailed(placed(project.problems, root))
    return project


def _site(project: CheckedProject) -> PlannedSite:
    modules = (page.module for page in project.pages)
    return plan_site(project.tree, {module.source for module in modules if module.standalone})


def _write_halves(project: CheckedProject, folder: Path) -> None:
    for page in project.pages:
        if page.module.code is not None:
            _write(folder / page.module.code, page.python)
        _write(folder / "ui" / f"{page.module.source}.tsx", page.ui)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8", newline="")


def _bundle_view(view: PlannedView) -> BundleView:
    return BundleView(
        id=view.id,
        kind=view.kind,
        module=view.source,
        layouts=tuple((layout.source, layout.is_template) for layout in view.layouts),
        loading=view.loading,
        boundaries=view.boundaries,
    )


def _finish(
    project: CheckedProject,
    site: PlannedSite,
    config: Config,
    mode: Mode,
    result: BundleResult | None,
    folder: Path,
) -> Manifest:
    """Write the manifest into ``folder``."""
    suspending = {page.module.source for page in project.pages if page.suspends}
    assets = Assets(base=f"{config.base_url}/_fx/")
    if result is not None:
        entry = result.entry
        assets = attrs.evolve(
            assets,
            entry=entry.module,
            preload=entry.preload,
            css=entry.css,
            server=_name_renderer(folder, result.build_id),
        )
    manifest = Manifest(
        build_id=_digest(folder) if result is None else result.build_id,
        mode=mode,
        base_url=config.base_url,
        modules={page.module.source: page.module for page in project.pages},
        views=tuple(_view(view, suspending, result) for view in site.views),
        routes=tuple(PageRoute(pattern=pattern, view=view) for pattern, view in site.routes),
        api=tuple(ApiRoute(pattern=api.pattern, source=api.source) for api in project.tree.api),
        not_found=site.not_found,
        llms=project.tree.llms,
        markdown=project.tree.markdown,
        assets=assets,
    )
    (folder / FILE_NAME).write_bytes(dump_manifest(manifest))
    return manifest


def _name_renderer(folder: Path, build_id: str) -> str:
    """Give the SSR bundle a folder of its build's own, and return its path in ``folder``.

    So a server that was started on one build never renders with the bundle of another.
    """
    name = f"ssr-{build_id}"
    (folder / "ssr").rename(folder / name)
    return f"{name}/server.mjs"


def _view(view: PlannedView, suspending: set[str], result: BundleResult | None) -> View:
    layouts = tuple(layout.source for layout in view.layouts)
    return View(
        id=view.id,
        kind=view.kind,
        module=view.source,
        layouts=layouts,
        boundaries=view.boundaries,
        not_found=view.not_found,
        streams=view.loading is not None or not suspending.isdisjoint((view.source, *layouts)),
        defers=view.loading is not None,
        client={} if result is None else result.clients[view.id],
    )


def _digest(folder: Path) -> str:
    """Return 16 hex characters that follow from the names and contents of all files."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
