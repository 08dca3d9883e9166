"""`fx format`: page files in one style."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fxtrio.cli.output import print_done, print_errors, root_option
from fxtrio.compile.plurals import counted
from fxtrio.errors import FxtrioError, display_path

if TYPE_CHECKING:
    from fxtrio.tools.format.rewrite_files import FileText


@click.command
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@root_option
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Like --check, and print what would change.")
@click.option(
    "--stdin-filename",
    type=click.Path(path_type=Path),
    metavar="NAME",
    help="Format standard input as this file, and print the result.",
)
def command(
    paths: tuple[Path, ...], root: Path, check: bool, diff: bool, stdin_filename: Path | None
) -> None:
    """Format page files with ruff and prettier.

    Ruff formats the Python, prettier the client code, both with the project's settings. Without
    PATHS it formats all page files of the project. A folder means the page files in it; other
    files, such as app.py or card.jsx, are formatted if you name them. A file with errors is not
    changed.
    """
    import trio

    from fxtrio.config import load_config
    from fxtrio.tools.format.rewrite_files import find_files, format_files, read

    if stdin_filename is not None and paths:
        raise click.UsageError("--stdin-filename takes no PATHS.")
    if stdin_filename is not None:
        data = sys.stdin.buffer.read()
        files = [(stdin_filename, data)]
    else:
        found = find_files(paths or [root / load_config(root).pages_dir])
        files = [(path, read(path)) for path in found]
    report = partial(click.echo, err=True)
    texts = trio.run(partial(format_files, root, files, report=report))
    broken = _tell_problems(texts, root)
    failed = 0
    changed = [text for text in texts if text.after != text.before]
    if diff:
        click.echo("".join(line for text in changed for line in _diff(text)), nl=False)
    if stdin_filename is not None:
        if not (broken or check or diff):
            sys.stdout.buffer.write(texts[0].after)
    elif check or diff:
        _tell_unformatted(changed, len(texts), broken)
    else:
        failed = _write(changed, len(texts), broken)
    raise SystemExit(1 if broken or failed or (changed and (check or diff)) else 0)


def _tell_problems(texts: Iterable[FileText], root: Path) -> int:
    """Print why files stay as they are, and return how many do."""
    from fxtrio.compile.problems import CompileFailed, placed

    broken = [text for text in texts if text.problems]
    problems = placed((problem for text in broken for problem in text.problems), root)
    print_errors([CompileFailed(problems)] if problems else [])
    return len(broken)


def _diff(text: FileText) -> Iterable[str]:
    """Return the lines of a unified diff."""
    name = display_path(text.path)
    before, after = (each.decode().splitlines(keepends=True) for each in (text.before, text.after))
    for line in difflib.unified_diff(before, after, name, name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _tell_unformatted(changed: Sequence[FileText], total: int, broken: int) -> None:
    for text in changed:
        click.echo(f"{display_path(text.path)}: it is not formatted. Run 'fx format'.", err=True)
    if not changed and not broken:
        print_done(f"{counted(total, 'file')} {'is' if total == 1 else 'are'} formatted.")


def _write(changed: Sequence[FileText], total: int, broken: int) -> int:
    """Write what has changed and tell so; return how many files could not be written."""
    from fxtrio.tools.format.rewrite_files import write

    failed: list[FxtrioError] = []
    for text in changed:
        try:
            write(text)
        except FxtrioError as error:
            failed.append(error)
        else:
            click.echo(display_path(text.path))
    print_errors(failed)
    done, same = len(changed) - len(failed), total - len(changed) - broken
    print_done(f"{counted(done, 'file')} formatted, {same} as before.")
    return len(failed)
