"""`fx check`: find mistakes in settings, routes, page files and what they import."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from fxtrio.cli.output import app_option, find_app, json_option, print_done, root_option
from fxtrio.cli.words import counted

if TYPE_CHECKING:
    from fxtrio.compile.problems import Problem


@click.command
@root_option
@app_option
@click.option("--static", is_flag=True, help="Do not import the project's Python code.")
@click.option("--types", is_flag=True, help="Check the types as well, like 'fx typecheck'.")
@json_option
def command(root: Path, app: str | None, static: bool, types: bool, as_json: bool) -> None:
    """Find mistakes without building.

    All problems of settings, routes and files are reported, as ``path:line:column:
    message. Remedy.`` The project's Python code is imported, as its server would, in a
    process of its own; nothing is opened or served.
    """
    import trio

    from fxtrio.compile.editor_types import write_client_types
    from fxtrio.compile.problems import format_json, format_text
    from fxtrio.config import load_env_files
    from fxtrio.config.problems import ConfigInvalid
    from fxtrio.log import printable

    def report(line: str) -> None:
        if not as_json:
            click.echo(line, err=True)

    with suppress(ConfigInvalid):  # which `check` reports with all the rest
        load_env_files(root, settings_only=static)
    write_client_types(root)
    named = find_app(root, app)
    looking = partial(check, root, app=named, imports=not static, types=types, report=report)
    checked = trio.run(looking)
    if as_json:
        click.echo(format_json(checked.problems), nl=False)
    elif checked.problems:
        click.echo(printable(format_text(checked.problems)), nl=False)
        files = len({problem.path for problem in checked.problems})
        where = f" in {counted(files, 'file')}" if files > 1 else ""
        report(f"{counted(len(checked.problems), 'problem')}{where}.")
    else:
        print_done(
            f"{counted(checked.files, 'file')} {'is' if checked.files == 1 else 'are'} fine."
        )
    raise SystemExit(1 if checked.problems else 0)


@attrs.frozen
class Checked:
    """What `check` has found."""

    files: int
    """How many were looked at (count)."""

    problems: tuple[Problem, ...]
    """By place; their paths are as messages name them."""


async def check(
    root: Path,
    *,
    app: str,
    imports: bool = True,
    types: bool = False,
    report: Callable[[str], None],
) -> Checked:
    """Check the project in ``root``.

    ``app`` is its ASGI app, "" without one. With ``imports`` the project's code is
    imported, and so it is with ``types``, which are those of `fx typecheck`. ``report`` gets
    what is no problem of the project: that something takes time, or is not checked.
    """
    import trio

    from fxtrio.cli.trial.migrations import migration_problems
    from fxtrio.cli.trial.process import order_of, try_application
    from fxtrio.cli.unguarded import unguarded_problems
    from fxtrio.compile.problems import config_problems, placed
    from fxtrio.compile.project import check_project, check_python
    from fxtrio.compile.surroundings import surrounding_problems
    from fxtrio.compile.ui import check_ui
    from fxtrio.config import locate, read_config, read_env_files
    from fxtrio.config.problems import ConfigProblem

    config, mistaken = read_config(root)
    unusable = [*read_env_files(root)[1], *mistaken]
    if any(problem.key == "pagesDir" for problem in unusable):  # so there is nothing to look at
        return Checked(0, tuple(config_problems(unusable)))
    project = await trio.to_thread.run_sync(check_project, root, config)
    module = f"{app.partition(':')[0].replace('.', '/')}.py"
    broken = await trio.to_thread.run_sync(check_python, root, module) if app else []
    around = await trio.to_thread.run_sync(surrounding_problems, root, config)
    migrations = await migration_problems(root, config, connects=imports)
    problems = [*project.problems, *broken, *around, *migrations]
    settings = [*unusable, *locate(unguarded_problems(config, project.tree.api), root)]

    async def look_at_ui() -> None:
        problems.extend(await check_ui(root, project, report=report))

    async def look_at_code() -> None:
        # An app that cannot be read, or has no settings, is known not to start.
        order = order_of(
            root, project, config, app="" if broken or unusable else app, has_app=bool(app)
        )
        found = await try_application(order)
        problems.extend(found.problems)
        late = (ConfigProblem(place="", key=one.key, cause=one.cause) for one in found.settings)
        settings.extend(locate(late, root))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look_at_ui)
        if imports:
            nursery.start_soon(look_at_code)
    files = len(project.pages) + len(project.tree.api) + len(project.tree.llms) + bool(app)
    found = [*config_problems(settings), *placed(problems, root)]
    if types and not unusable:
        found += await _types_beside(found, root, report)
    return Checked(files, tuple(sorted(found)))


async def _types_beside(
    found: Iterable[Problem], root: Path, report: Callable[[str], None]
) -> list[Problem]:
    """Return what `fx typecheck` finds elsewhere than where something was found already."""
    from fxtrio.cli.typecheck import check_types

    places = {(one.path, one.line, one.column) for one in found}
    checked = await check_types(root, syntax=False, report=report)
    return [one for one in checked.problems if (one.path, one.line, one.column) not in places]
