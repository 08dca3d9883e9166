"""Starts the process that imports a project.

Imports next to nothing itself, so that the process is under way while the caller's own modules
are being imported.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

_CHILD = "fxtrio.tools.project_process.child"


class ProjectProcess:
    """A process that waits for its order, and the files that it writes to.

    They are files, and no pipes: what it wrote is there when it had to be killed, too, and
    what the project has started and left behind keeps nobody waiting.
    """

    def __init__(self, root: Path, task: str, output: IO[bytes], errors: IO[bytes]) -> None:
        self.output = output
        self.errors = errors
        self.popen = subprocess.Popen(
            command(_CHILD, task),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=errors,
            cwd=root,
            env=environment(),
        )


@contextmanager
def open_process(root: Path, task: str) -> Iterator[ProjectProcess]:
    """Have a process for the module ``task`` in the folder ``root``; the block's end kills it.

    It holds nothing that it would have to put in order.
    """
    with TemporaryFile() as output, TemporaryFile() as errors:
        process = ProjectProcess(root, task, output, errors)
        with process.popen:
            try:
                yield process
            finally:
                process.popen.kill()


def command(module: str, task: str) -> list[str]:
    """Return the command line that runs ``module`` of this package for a task."""
    return [sys.executable, "-P", "-m", module, task]


def environment() -> dict[str, str]:
    """Return the environment of a process that imports a project to look at it."""
    return {
        "FX_SECRET_KEY": secrets.token_urlsafe(32),  # unless there is one
        **os.environ,
        "FX_MODE": "check",
    }
