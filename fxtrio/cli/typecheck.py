"""`fx typecheck`: what passes between the two halves of page files, checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from fxtrio.cli.output import json_option, paths_argument, print_done, require_inside, root_option
from fxtrio.compile.plurals import counted, counted_problems

if TYPE_CHECKING:
    from fxtrio.compile.problems import Problem
    from fxtrio.tools.project_process.start import ProjectProcess

_GATHERER = "fxtrio.tools.types.gather.gatherer_child"


@click.command
@paths_argument
@root_option
@click.option(
    "--strict",
    is_flag=True,
    help="Also report types that cannot be inferred, and how to annotate them.",
)
@click.option("--no-python", is_flag=True, help="Do not run the project's own Python type checker.")
@json_option
def command(
    paths: tuple[Path, ...], root: Path, strict: bool, no_python: bool, as_json: bool
) -> None:
    """Check the types of all pages, or only of those in PATHS.

    The client halves are checked against the server halves: the data of loaders,
    the arguments and results of actions, parameters and paths. Server halves are checked by
    mypy, pyright or pyrefly, if the project has settings for one.
    """
    from fxtrio.config import load_env_files
    from fxtrio.tools.project_process.start import open_process

    def report(line: str) -> None:
        if not as_json:
            click.echo(line, err=True)

    require_inside(paths, root)
    load_env_files(root)
    with open_process(root, _GATHERER) as process:  # it imports while we do
        import trio

        check = partial(
            check_types,
            root,
            paths=paths,
            strict=strict,
            python=not no_python,
            process=process,
            report=report,
        )
        checked = trio.run(check)
    from fxtrio.compile.problems import format_json, format_text

    problems = checked.problems
    if as_json:
        click.echo(format_json(problems), nl=False)
    elif problems:
        click.echo(format_text(problems), nl=False)
        report(f"{counted_problems(problems)}.")
    else:
        print_done(f"The types of {counted(checked.files, 'file')} fit.")
    raise SystemExit(1 if problems else 0)


@attrs.frozen
class CheckedTypes:
    """What `check_types` has found."""

    files: int
    """How many page files were looked at (count)."""

    problems: tuple[Problem, ...]
    """By place; their paths are as messages name them."""


async def check_types(
    root: Path,
    *,
    paths: Sequence[Path] = (),
    strict: bool = False,
    python: bool = True,
    syntax: bool = True,
    process: ProjectProcess | None = None,
    report: Callable[[str], None],
) -> CheckedTypes:
    """Check the types of the project in ``root``. Its code runs in ``process``, or a new one.

    With ``paths`` only these files and folders count. With ``syntax`` it is told which files
    do not parse: nobody looks at their types. ``report`` gets a line for each thing that takes
    time. Raises ConfigInvalid, NodeMissing, ToolchainFailed, TypesUnknown, CompilerFailed and
    CheckerFailed.
    """
    import trio

    from fxtrio.compile.problems import placed
    from fxtrio.compile.project import check_project
    from fxtrio.config import load_config
    from fxtrio.tools.types.gather.gatherer_process import project_types
    from fxtrio.tools.types.python.unknown_types import unknown_type_problems
    from fxtrio.tools.types.report.checking import TypeCheck
    from fxtrio.tools.types.report.compiler import ensure_compiler
    from fxtrio.tools.types.report.python_checkers import check_python_halves
    from fxtrio.tools.types.ui.extra_paths import other_paths
    from fxtrio.tools.types.ui.virtual_project import TypesFolder

    root = await trio.to_thread.run_sync(root.resolve)
    config = load_config(root)
    project = await trio.to_thread.run_sync(check_project, root, config)
    problems: list[Problem] = []
    if syntax:
        whole = {page.module.source for page in project.pages if page.whole}
        sides = {*(one.source for one in project.tree.api), *project.tree.llms.values()}
        sides |= {one.source for one in project.actions}
        problems += [one for one in project.problems if one.path not in whole | sides]

    async def look_at_ui() -> None:
        compiler = await ensure_compiler(report)
        types = await project_types(root, project, process)
        others = await trio.to_thread.run_sync(other_paths, root, config)
        check = TypeCheck(TypesFolder(root, compiler), others)
        problems.extend(await check.run(project, types, syntax=syntax))
        if strict:
            problems.extend(unknown_type_problems(types, project.pages))

    async def look_at_python() -> None:
        problems.extend(await check_python_halves(root, project, report))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look_at_ui)
        if python:
            nursery.start_soon(look_at_python)
    sources = [root / page.module.source for page in project.pages]
    return _within(paths, sources, placed(problems, root))


def _within(
    paths: Sequence[Path], sources: Sequence[Path], found: tuple[Problem, ...]
) -> CheckedTypes:
    """Return what was found in page files that are, or lie in, ``paths``; all without any."""
    from fxtrio.compile.problems import in_paths

    if not paths:
        return CheckedTypes(len(sources), found)
    wanted = [path.resolve() for path in paths]
    files = sum(any(map(source.is_relative_to, wanted)) for source in sources)
    return CheckedTypes(files, tuple(in_paths(found, paths)))
