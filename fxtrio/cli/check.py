"""`fx check`: find mistakes in settings, routes, page files and what they import."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from fxtrio.cli.output import (
    app_option,
    find_app,
    json_option,
    paths_argument,
    print_done,
    require_inside,
    root_option,
)
from fxtrio.compile.plurals import counted, counted_problems
from fxtrio.errors import display_path

if TYPE_CHECKING:
    from fxtrio.compile.problems import Problem


@click.command
@paths_argument
@root_option
@app_option
@click.option("--static", is_flag=True, help="Do not import the project's Python code.")
@click.option("--types", is_flag=True, help="Check the types as well, like 'fx typecheck'.")
@json_option
def command(
    paths: tuple[Path, ...], root: Path, app: str | None, static: bool, types: bool, as_json: bool
) -> None:
    """Find errors without building: in all files, or only in PATHS.

    It reports all problems of settings, routes and files, as 'path:line:column: message.
    Remedy.' It imports the project's Python code in a separate process, as the server
    would; it opens and serves nothing.
    """
    import trio

    from fxtrio.compile.bundling.editor_types import write_client_types
    from fxtrio.compile.check.problem_kinds import FindingKind
    from fxtrio.compile.problems import format_json, format_text
    from fxtrio.config import load_env_files
    from fxtrio.config.errors import ConfigInvalid
    from fxtrio.log import printable

    def report(line: str) -> None:
        if not as_json:
            click.echo(line, err=True)

    with suppress(ConfigInvalid):  # which `check` reports with all the rest
        load_env_files(root, settings_only=static)
    write_client_types(root)
    named = find_app(root, app)
    looking = partial(check, root, app=named, imports=not static, types=types, report=report)
    checked = within(paths, root, trio.run(looking))
    if as_json:
        click.echo(format_json(checked.problems), nl=False)
    elif checked.problems:
        click.echo(printable(format_text(checked.problems)), nl=False)
        report(f"{counted_problems(checked.problems)}.")
    else:
        print_done(
            f"{counted(checked.files, 'file')} {'is' if checked.files == 1 else 'are'} fine."
        )
    raise SystemExit(any(one.kind is not FindingKind.ENVIRONMENT for one in checked.problems))


_BESIDE_PAGES = frozenset(
    {
        *(".py", ".sql", ".json", ".toml", ".css"),
        *(".js", ".mjs", ".jsx", ".ts", ".mts", ".tsx"),
    }
)
"""Suffixes of files besides pages in which something is found."""


@attrs.frozen
class Checked:
    """What `check` has found."""

    files: int
    """How many were looked at (count)."""

    problems: tuple[Problem, ...]
    """By place; their paths are as messages name them."""

    pages: frozenset[Path] = frozenset()
    """The page files, absolute."""


def within(paths: Sequence[Path], root: Path, checked: Checked) -> Checked:
    """Return what was found in files and folders of the project in ``root``; all without any.

    Raises BadParameter for one that is not in the project, and for a file of another kind.
    """
    from fxtrio.compile.problems import in_paths

    if not paths:
        return checked
    require_inside(paths, root)
    files = 0
    for path in paths:
        below = [path] if path.is_file() else _own_files(path)
        found = sum(_is_looked_at(one, checked.pages) for one in below)
        if not found and path.is_file() and checked.pages:
            message = f"{path} is not a file that fx check looks at. Name pages, code or settings."
            raise click.BadParameter(message, param_hint="PATHS")
        files += found
    return Checked(files, tuple(in_paths(checked.problems, paths)))


def _own_files(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if one[0] != "." and one != "node_modules"]
        yield from (Path(parent, name) for name in names)


def _is_looked_at(file: Path, pages: frozenset[Path]) -> bool:
    if file.suffix in _BESIDE_PAGES or file.name.startswith(".env"):
        return file.is_file()
    return file.resolve() in pages


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

    from fxtrio.cli.import_check.process import found_settings, order_of, try_application
    from fxtrio.compile.check.problem_kinds import FindingKind
    from fxtrio.compile.check.ui_code import check_ui
    from fxtrio.compile.file_checks import check_python
    from fxtrio.compile.problems import config_problems, of_kind, placed
    from fxtrio.compile.project import check_project
    from fxtrio.config import read_config, read_env_files
    from fxtrio.tools.project_checks.project_files import beside_problems

    config, mistaken = read_config(root)
    unusable = [*read_env_files(root)[1], *mistaken]
    if any(problem.key == "pagesDir" for problem in unusable):  # so there is nothing to look at
        return Checked(0, tuple(config_problems(unusable)))
    project = await trio.to_thread.run_sync(check_project, root, config)
    module = f"{app.partition(':')[0].replace('.', '/')}.py"
    broken = await trio.to_thread.run_sync(check_python, root, module) if app else []
    beside = await beside_problems(root, config, project, connects=imports)
    problems = [*project.problems, *_elsewhere(broken, root, beside)]
    named: list[Problem] = []

    async def look_at_ui() -> None:
        problems.extend(await check_ui(root, project, report=report))

    async def look_at_code() -> None:
        # An app that cannot be read, or has no settings, is known not to start.
        order = order_of(
            root, project, config, app="" if broken or unusable else app, has_app=bool(app)
        )
        found = await try_application(order)
        imported = _elsewhere(found.problems, root, beside)
        problems.extend(of_kind(FindingKind.CODE, imported))
        named.extend(found_settings(root, found))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look_at_ui)
        if imports:
            nursery.start_soon(look_at_code)
    files = len(project.pages) + len(project.tree.api) + len(project.tree.llms) + bool(app)
    found = [*config_problems(unusable), *named, *beside, *placed(problems, root)]
    if types and not unusable:
        found += await _types_beside(found, root, report)
    pages = frozenset((root / page.module.source).resolve() for page in project.pages)
    return Checked(files, tuple(sorted(found)), pages)


def _elsewhere(problems: Iterable[Problem], root: Path, beside: Iterable[Problem]) -> list[Problem]:
    """Return those in other modules than the ones that do not parse: each import of these fails.

    ``beside`` are `placed`, and ``problems`` are not.
    """
    from fxtrio.compile.check.problem_kinds import FindingKind

    unparsed = {one.path for one in beside if one.kind is FindingKind.CODE}
    return [one for one in problems if display_path(root / one.path) not in unparsed]


async def _types_beside(
    found: Iterable[Problem], root: Path, report: Callable[[str], None]
) -> list[Problem]:
    """Return what `fx typecheck` finds elsewhere than where something was found already."""
    from fxtrio.cli.typecheck import check_types

    places = {(one.path, one.line, one.column) for one in found}
    checked = await check_types(root, syntax=False, report=report)
    return [one for one in checked.problems if (one.path, one.line, one.column) not in places]
