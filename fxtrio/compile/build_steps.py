"""What builds and `fx dev` have in common: a checked project → its halves, views and manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from fxtrio.atomic_write import write_whole
from fxtrio.compile.bundling.bundle import BundlePlan, BundleResult, BundleView
from fxtrio.compile.checked_page import CheckedPage
from fxtrio.compile.problems import CompileFailed, placed
from fxtrio.compile.project import CheckedProject, check_project
from fxtrio.compile.scripts import scripts_mode, without_scripts
from fxtrio.compile.views import PlannedSite, PlannedView, plan_site
from fxtrio.config import Config
from fxtrio.manifest import (
    MARKDOWN,
    ApiRoute,
    Assets,
    Manifest,
    Mode,
    PageModule,
    PageRoute,
    View,
)
from fxtrio.routes.suffixes import MARKDOWN_SUFFIX

_write_over = partial(write_whole, lasting=False)


def checked_project(root: Path, config: Config) -> CheckedProject:
    """Return the project in ``root``. Raises CompileFailed with every problem of it."""
    project = check_project(root, config)
    if project.problems:
        raise CompileFailed(placed(project.problems, root))
    return project


def planned_site(project: CheckedProject, before: PlannedSite | None = None) -> PlannedSite:
    """Return the views and routes of a project; views that were in ``before`` keep their ids."""
    modules = (page.module for page in project.pages)
    standalone = {module.source for module in modules if module.standalone}
    return plan_site(project.tree, standalone, before)


def write_halves(
    pages: Iterable[CheckedPage],
    folder: Path,
    write: Callable[[Path, bytes], object] = _write_over,
) -> None:
    """Write both halves of ``pages`` into a build folder.

    ``write`` writes a file, with its folders: `write_new` where nobody reads the folder yet.
    """
    for page in pages:
        if page.module.code is not None:
            write(folder / page.module.code, page.python.encode())
        write(folder / "ui" / f"{page.module.source}.tsx", page.ui.encode())
        if page.module.source.endswith(MARKDOWN_SUFFIX):
            write(folder / MARKDOWN / page.module.source, page.markdown.encode())


def remove_halves(sources: Iterable[str], folder: Path) -> None:
    """Remove both halves of deleted page files from a build folder."""
    for source in sources:
        (folder / "server" / f"{source}.py").unlink(missing_ok=True)
        (folder / "ui" / f"{source}.tsx").unlink(missing_ok=True)
        (folder / MARKDOWN / source).unlink(missing_ok=True)


def remove_other_halves(pages: Collection[CheckedPage], folder: Path) -> None:
    """Remove the files of all pages but ``pages`` from a build folder."""
    wanted = {folder / "ui" / f"{page.module.source}.tsx" for page in pages}
    wanted |= {folder / page.module.code for page in pages if page.module.code is not None}
    wanted |= {folder / MARKDOWN / page.module.source for page in pages}
    for name in ("ui", "server", MARKDOWN):
        for path in (folder / name).rglob("*"):
            if path not in wanted and path.is_file() and path.suffix != ".part":
                path.unlink(missing_ok=True)


def bundle_plan(
    root: Path,
    folder: Path,
    project: CheckedProject,
    site: PlannedSite,
    config: Config,
    mode: Mode,
    *,
    seed: str = "",
) -> BundlePlan:
    """Return the plan of a bundle for a project whose halves are in ``folder``."""
    modules = {page.module.source: page.module for page in project.pages}
    return BundlePlan(
        root=root,
        staging=folder,
        base=f"{config.base_url}/_fx/",
        mode=mode,
        modules=project.tree.sources,
        views=tuple(bundle_view(view, modules) for view in site.views),
        seed=seed,
    )


def bundle_view(view: PlannedView, modules: Mapping[str, PageModule]) -> BundleView:
    """Return one view as bundlers take it; ``modules`` are those of all sources."""
    layouts = [layout.source for layout in view.layouts]
    return BundleView(
        id=view.id,
        kind=view.kind,
        module=view.source,
        layouts=tuple((layout.source, layout.is_template) for layout in view.layouts),
        loading=view.loading,
        boundaries=view.boundaries,
        scripts=scripts_mode(view.source, layouts, modules)[0],
    )


def make_manifest(
    project: CheckedProject,
    site: PlannedSite,
    config: Config,
    mode: Mode,
    result: BundleResult | None,
) -> Manifest:
    """Return the manifest; without a ``result`` it names no files and has no build id."""
    suspending = {page.module.source for page in project.pages if page.suspends}
    assets = Assets(base=f"{config.base_url}/_fx/")
    modules = {page.module.source: page.module for page in project.pages}
    views = tuple(_view(view, suspending, result) for view in site.views)
    if result is not None:
        entry, islands = result.entry, result.islands_entry
        assets = replace(assets, entry=entry.module, preload=entry.preload, css=entry.css)
        if islands is not None:
            assets = replace(assets, islands=(islands.module, *islands.preload))
    return Manifest(
        build_id="" if result is None else result.build_id,
        mode=mode,
        base_url=config.base_url,
        modules=modules,
        views=views if result is None else without_scripts(views, modules, result),
        routes=tuple(PageRoute(pattern=pattern, view=view) for pattern, view in site.routes),
        api=tuple(ApiRoute(pattern=api.pattern, source=api.source) for api in project.tree.api),
        actions=project.actions,
        not_found=site.not_found,
        llms=project.tree.llms,
        markdown=project.tree.markdown,
        assets=assets,
    )


def has_same_manifest(project: CheckedProject, other: CheckedProject) -> bool:
    """Return whether two projects have the same manifest, with the same settings and bundle."""
    if (project.tree, project.actions) != (other.tree, other.actions):
        return False
    pairs = zip(project.pages, other.pages, strict=True)  # one for each source of the tree
    return all(
        page is one or (page.module, page.suspends) == (one.module, one.suspends)
        for page, one in pairs
    )


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


def digest(folder: Path) -> str:
    """Return 16 hex characters that follow from the names and contents of all files."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
