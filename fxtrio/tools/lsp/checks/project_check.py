"""A whole project as `fx check` sees it: the command itself, in a process of its own.

So what the editor shows is what the command prints, and the project's code is never imported
here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import trio

from fxtrio.compile.problems import Problem, read_json

COMMAND = (sys.executable, "-P", "-m", "fxtrio", "check", "--json")
"""Without ``-P`` Python would look for the command's own imports in the folder that is open."""

LIMIT = 300.0
"""How long a check may take (seconds); one that imports a large project takes some."""


async def check_whole(
    root: Path, *, static: bool, report: Callable[[str], None]
) -> list[Problem] | None:
    """Return all problems of the project in ``root``; None when they could not be found.

    Their paths are relative to ``root``. ``static`` leaves the project's code alone.
    ``report`` gets messages that are no problems of the project. Cancelling it kills the process.
    """
    command = [*COMMAND, *(["--static"] if static else [])]
    run = partial(
        trio.run_process,
        command,
        cwd=root,
        capture_stdout=True,
        capture_stderr=True,
        check=False,
        deliver_cancel=_kill,
    )
    with trio.move_on_after(LIMIT):
        done = await run()
        try:
            found = read_json(done.stdout)
        except (ValueError, KeyError, TypeError):
            said = done.stderr.decode("utf-8", "replace").strip()
            report(f"{root}: 'fx check' has failed. {said[-2000:]}")
            return None
        return found
    report(f"{root}: 'fx check' has taken longer than {LIMIT:g} s.")
    return None


async def _kill(process: trio.Process) -> None:
    """End the command at once: it only reads."""
    process.kill()
