"""What `fx from-pyxle` and `fx from-next` have in common: show a conversion, and do it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import attrs
import click

from fxtrio.cli.output import console, json_option, print_done, root_option
from fxtrio.compile.plurals import counted

if TYPE_CHECKING:
    from fxtrio.compile.problems import Problem
    from fxtrio.tools.convert.conversion import Conversion

Planner = Callable[..., Awaitable["Conversion"]]
"""Takes the project folder, and as ``report`` what gets a line for each thing that takes time."""

Function = TypeVar("Function", bound=Callable[..., object])


def conversion_options(function: Function) -> Function:
    """Add the options of both commands."""
    for option in (
        json_option,
        click.option("--force", is_flag=True, help="Write even if Git cannot undo it."),
        click.option(
            "--write", is_flag=True, help="Write the result; without it, fx only prints the plan."
        ),
        root_option,
    ):
        function = option(function)
    return function


def convert(plan: Planner, root: Path, *, write: bool, force: bool, as_json: bool) -> None:
    """Print what ``plan`` would do to the project in ``root``, and what remains to be done."""
    import trio

    from fxtrio.tools.convert.applying import reject_unclean
    from fxtrio.tools.convert.applying import write as write_all

    def report(line: str) -> None:
        if not as_json:
            click.echo(line, err=True)

    conversion = trio.run(partial(plan, root, report=report))
    if write:
        reject_unclean(conversion, force=force)
    left = trio.run(partial(_left, conversion, report=report))
    if write:
        write_all(conversion)
    if as_json:
        click.echo(_as_json(conversion, left, written=write), nl=False)
    else:
        _print(conversion, left, written=write)


async def _left(conversion: Conversion, *, report: Callable[[str], None]) -> list[Problem]:
    """Return all that has to be done by hand: what was planned so, and what a check finds."""
    from fxtrio.cli.check import check
    from fxtrio.errors import display_path
    from fxtrio.tools.convert.conversion import by_place
    from fxtrio.tools.convert.staged import staged

    with staged(conversion) as folder:
        checked = await check(folder, app="", imports=False, report=report)
        found = [attrs.evolve(one, path=_relative(one.path, folder)) for one in checked.problems]
    if not (conversion.root / "node_modules").is_dir():  # the notes say so once
        found = [one for one in found if one.remedy != "Run 'npm install'"]
    found += conversion.left
    at = conversion.root
    return by_place(attrs.evolve(one, path=display_path(at / one.path)) for one in found)


def _relative(path: str, folder: Path) -> str:
    where = Path(path)
    absolute = where if where.is_absolute() else Path.cwd() / where
    return absolute.relative_to(folder).as_posix() if absolute.is_relative_to(folder) else path


def _as_json(conversion: Conversion, left: list[Problem], *, written: bool) -> str:
    from fxtrio.compile.problems import format_json

    files = [
        {"path": file.path, "before": file.before, "done": file.done}
        for file in conversion.changes()
    ]
    printed = {
        "written": written,
        "files": files,
        "removed": conversion.removed,
        "notes": conversion.notes,
        **json.loads(format_json(left)),
    }
    return json.dumps(printed) + "\n"


def _print(conversion: Conversion, left: list[Problem], *, written: bool) -> None:
    from fxtrio.compile.problems import format_text
    from fxtrio.log import printable

    out = console()
    changes = [*conversion.changes()]
    for file in changes:
        where = file.path if file.path == file.before else f"{file.before or 'new'} → {file.path}"
        done = [one for one in file.done if not one.startswith("moved from")]
        out.print(printable(f"{where}{': ' if done else ''}{', '.join(done)}"))
    for path, why in conversion.removed.items():
        out.print(printable(f"{path}: removed, {why}"))
    if left:
        out.print(f"\nLeft to do by hand, in {counted(len(left), 'place')}:")
        click.echo(printable(format_text(left)), nl=False)
    for note in conversion.notes:
        out.print(f"\n{note}", end="")
    out.print("")
    number = len(changes) + len(conversion.removed)
    if written:
        print_done(f"Converted {counted(number, 'file')}.")
    else:
        out.print(f"Nothing is written yet: --write converts {counted(number, 'file')}.")
