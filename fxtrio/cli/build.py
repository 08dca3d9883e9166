"""`fx build`: pages in, a build folder out."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from fxtrio.cli.output import console, json_option, print_done, print_warning, root_option
from fxtrio.compile.plurals import counted
from fxtrio.config import Config, load_config, load_env_files
from fxtrio.errors import FxtrioError, display_path
from fxtrio.manifest import Manifest
from fxtrio.sizes import to_bytes

if TYPE_CHECKING:
    from fxtrio.compile.build import Build
    from fxtrio.compile.bundling.bundle import BundleResult
    from fxtrio.compile.bundling.early_bundler import EarlyBundler
    from fxtrio.compile.problems import Problem
    from fxtrio.compile.project import CheckedProject
    from fxtrio.compile.publish.page_weights import PageWeight, Weight
    from fxtrio.export.place import Place


@click.command
@root_option
@click.option(
    "--analyze",
    is_flag=True,
    help="Print how many bytes the browser loads for each page.",
)
@click.option(
    "--budget",
    metavar="SIZE",
    callback=lambda _context, _option, text: None if text is None else _size(text),
    help="Fail if a page loads more JavaScript and CSS than this, compressed (100kB).",
)
@click.option(
    "--standalone",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="Also write a folder with the app and copies of its packages.",
)
@click.option(
    "--include",
    metavar="PATTERN",
    multiple=True,
    help="Further files of the project for --standalone, such as 'data/*.csv'.",
)
@click.option(
    "--site",
    metavar="URL",
    help="Scheme and host of the site, for static pages: https://example.com.",
)
@json_option
def command(
    root: Path,
    analyze: bool,
    budget: int | None,
    site: str | None,
    standalone: Path | None,
    include: tuple[str, ...],
    as_json: bool,
) -> None:
    """Build the project for production, into .fx/build.

    The new build replaces the old one in the last step: if the build
    fails, the old one remains.
    """
    load_env_files(root)
    config = load_config(root)
    build = run_build(root, config, budget=budget, site=site, quiet=as_json)
    if standalone is not None:
        _write_standalone(root.resolve(), config, build, standalone.absolute(), include, as_json)
    weights = _weigh(build.folder, build.manifest) if analyze else []
    if as_json:
        summary = {"folder": str(build.folder), "buildId": build.manifest.build_id}
        pages = [attrs.asdict(weight) for weight in weights]
        click.echo(json.dumps({**summary, "pages": pages} if analyze else summary, indent=2))
        return
    if weights:
        _print_table(weights)
    built = counted(len(build.manifest.routes), "page")
    print_done(f"Built {built} into {display_path(build.folder)}.")


def _write_standalone(
    root: Path, config: Config, build: Build, folder: Path, include: tuple[str, ...], quiet: bool
) -> None:
    # Only for some builds.
    from fxtrio.standalone.write import write_standalone

    written = write_standalone(root, config, build.manifest, folder, include=include)
    for warning in written.warnings():
        print_warning(warning, console(stderr=quiet))
    if not quiet:
        packages = counted(len(written.packages), "package")
        files = counted(len(written.files), "Python file")
        counts = f"{files} of the project and {packages}"
        print_done(f"Wrote {display_path(folder)}, with {counts}.")


def run_build(
    root: Path, config: Config, *, budget: int | None, quiet: bool, site: str | None = None
) -> Build:
    """Build the project, and show the steps; their lines are left out if ``quiet``.

    ``site`` is where static pages will be, as `place_of` takes it. Raises what `build_project`
    raises, BudgetExceeded and PlaceInvalid.
    """
    # Imports next to nothing, but more than `fx --help` needs.
    from fxtrio.compile.bundling.early_bundler import bundling_early

    with bundling_early(root) as early:
        return _run_build(root, config, early, budget=budget, quiet=quiet, site=site)


def _run_build(
    root: Path,
    config: Config,
    early: EarlyBundler | None,
    *,
    budget: int | None,
    quiet: bool,
    site: str | None,
) -> Build:
    # The bundler loads its tools while all this is imported.
    import trio

    from fxtrio.cache_folder import cache_folder
    from fxtrio.cli.trial_load import require_loadable
    from fxtrio.compile.build import build_project
    from fxtrio.compression.encoding_cache import EncodingCache
    from fxtrio.compression.precompressed import compress_build
    from fxtrio.tools.types.ui.write_types import write_types

    place = None if site is None else _place_of(site, config)
    out = console(stderr=True)
    with out.status("Building") as status:

        def report(line: str) -> None:
            status.update(line)
            if not out.is_terminal and not quiet:
                out.print(line)

        building = partial(build_project, root, config, mode="production", early=early)

        def finish(folder: Path, manifest: Manifest, result: BundleResult) -> None:
            if not result.loads:
                report("Loading the bundle as a server does")
                trio.from_thread.run(require_loadable, root.resolve(), config, folder, manifest)
            if budget is not None:
                _require_budget(folder, manifest, budget)
            if config.is_described:
                report("Describing actions and endpoints")
                trio.from_thread.run(_describe, root, config, folder)
            if any(module.static for module in manifest.modules.values()):
                report("Rendering the static pages")
                trio.from_thread.run(_write_static, root.resolve(), config, folder, manifest, place)
            if config.compression != "off":
                report("Compressing")
                cache = EncodingCache(cache_folder() / "compressed")
                compress_build(folder, manifest.assets.client, root / config.public_dir, cache)

        build = trio.run(
            _with_types,
            partial(building, report=report, finish=finish),
            partial(_beside, root.resolve(), config),
            lambda project: write_types(root.resolve(), config, project, report),
        )
    for warning in build.warnings:
        print_warning(str(warning), out)
    return build


def _weigh(folder: Path, manifest: Manifest) -> list[PageWeight]:
    # Only for some builds.
    from fxtrio.compile.publish.page_weights import weigh_pages

    return weigh_pages(folder, manifest)


def _require_budget(folder: Path, manifest: Manifest, budget: int) -> None:
    # Only for some builds.
    from fxtrio.compile.publish.page_weights import require_budget

    require_budget(_weigh(folder, manifest), budget)


def _place_of(site: str, config: Config) -> Place:
    # Heavy, and only for some builds.
    from fxtrio.export.place import place_of

    return place_of(site, None, base_url=config.base_url)


async def _describe(root: Path, config: Config, folder: Path) -> None:
    # Heavy, and most projects have no description.
    from fxtrio.cli.openapi import explaining
    from fxtrio.tools.openapi.describe import describe_into

    async with explaining(root, config):
        await describe_into(root, config, folder)


async def _write_static(
    root: Path, config: Config, folder: Path, manifest: Manifest, place: Place | None
) -> None:
    # Heavy: it imports the app.
    from fxtrio.export.static_pages import NOWHERE, write_static_pages

    await write_static_pages(root, config, folder, manifest, place=place or NOWHERE)


def _size(text: str) -> int:
    try:
        return to_bytes(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is no size. Write one such as '100kB'.") from None


async def _beside(root: Path, config: Config, project: CheckedProject) -> list[Problem]:
    # Heavy: see `command`.
    from fxtrio.cli.import_check.process import try_front_matter, try_settings
    from fxtrio.tools.project_checks.project_files import beside_problems

    beside = await beside_problems(root, config, project, connects=False)
    written = await try_front_matter(root, project)
    return [*await try_settings(root, config), *written, *beside]


async def _with_types(
    build: Callable[..., Awaitable[Build]],
    beside: Callable[[CheckedProject], Awaitable[list[Problem]]],
    write_types: Callable[[CheckedProject], Awaitable[None]],
) -> Build:
    """Build, and write the types meanwhile, of the pages that the build has checked.

    Raises what the build raises, and nothing else.
    """
    import trio

    builds: list[Build] = []
    failed: list[FxtrioError] = []
    async with trio.open_nursery() as nursery:

        async def look(project: CheckedProject) -> list[Problem]:
            nursery.start_soon(write_types, project)
            return await beside(project)

        try:
            builds.append(await build(look=look))
        except FxtrioError as error:  # to be raised as it is, and not in a group
            failed.append(error)
            nursery.cancel_scope.cancel()
    if failed:
        raise failed[0]
    return builds[0]


def _print_table(weights: list[PageWeight]) -> None:
    # Only for some builds.
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Page", no_wrap=True)
    for name in ("JavaScript", "its own", "CSS"):
        table.add_column(name, justify="right", no_wrap=True)
    for weight in weights:
        cells = (_weight_text(part) for part in (weight.script, weight.own, weight.style))
        table.add_row(weight.pattern, *cells)
    console().print(table)


def _weight_text(weight: Weight) -> str:
    return f"{weight.raw / 1000:.1f} kB ({weight.gzip / 1000:.1f} gzip)" if weight.raw else "-"
