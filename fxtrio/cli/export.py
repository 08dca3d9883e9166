"""`fx export`: the pages of a project as files."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fxtrio.cli.build import run_build
from fxtrio.cli.output import console, json_option, print_done, print_warning, root_option
from fxtrio.compile.plurals import counted
from fxtrio.config import Config, load_config, load_env_files
from fxtrio.errors import display_path

if TYPE_CHECKING:
    from fxtrio.export import Exported, Place


@click.command
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--site",
    required=True,
    metavar="URL",
    help="Scheme and host of the site: https://example.com.",
)
@click.option(
    "--base",
    metavar="PATH",
    help="The path of the home page on that host.  [default: the setting baseUrl]",
)
@click.option(
    "--allow-missing",
    is_flag=True,
    help="Leave out pages that need a server, and list them.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    default=8,
    show_default=True,
    metavar="N",
    help="Pages that are rendered at the same time.",
)
@root_option
@json_option
def command(
    out: Path,
    site: str,
    base: str | None,
    allow_missing: bool,
    jobs: int,
    root: Path,
    as_json: bool,
) -> None:
    """Write the pages as files into OUT, for hosts that run no code.

    It builds the project first. Pages that cannot be files and broken links are errors. It
    replaces OUT in the last step: if the export fails, OUT remains unchanged.
    """
    # Heavy, and `fx --help` needs none of it.
    from fxtrio.compile.problems import placed
    from fxtrio.export import place_of
    from fxtrio.log import open_own_log
    from fxtrio.tools.project_checks.outer_middleware import outer_middleware

    load_env_files(root)
    config = load_config(root)
    place = place_of(site, base, base_url=config.base_url)
    run_build(root, config, budget=None, site=site, quiet=as_json)
    open_own_log()
    exported = _export(root, config, out.resolve(), place, allow_missing, jobs, quiet=as_json)
    error = console(stderr=True)
    for problem in placed(outer_middleware(root, of="exported pages"), root):
        print_warning(str(problem), error)
    if as_json:
        click.echo(json.dumps(_summary(exported), indent=2))
        return
    for finding in (*exported.left_out, *exported.dangling):
        print_warning(f"left out: {finding}", error)
    pages = counted(len(exported.pages), "page")
    left_out = f", and left out {len(exported.left_out)}" if exported.left_out else ""
    print_done(f"Exported {pages} into {display_path(exported.folder)}{left_out}.")


def _export(
    root: Path,
    config: Config,
    out: Path,
    place: Place,
    allow_missing: bool,
    jobs: int,
    *,
    quiet: bool,
) -> Exported:
    # Heavy, and `fx --help` needs none of it.
    import trio

    from fxtrio.export import export_site

    stderr = console(stderr=True)
    with stderr.status("Rendering") as status:

        def progress(done: int, count: int) -> None:
            status.update(f"Rendering {done} of {counted(count, 'page')}")
            if done == count and not stderr.is_terminal and not quiet:
                stderr.print(f"Rendered {counted(count, 'page')}")

        exporting = partial(export_site, allow_missing=allow_missing, jobs=jobs, progress=progress)
        return trio.run(exporting, root, config, out, place)


def _summary(exported: Exported) -> dict[str, object]:
    return {
        "folder": str(exported.folder),
        "pages": list(exported.pages),
        "files": exported.files,
        "leftOut": [str(finding) for finding in exported.left_out],
        "links": [str(finding) for finding in exported.dangling],
    }
