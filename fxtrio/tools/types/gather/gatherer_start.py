"""Starts the process that imports a project for its types. Imports next to nothing itself:

so that process is under way while the caller's own modules are being imported.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_gatherer(root: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Have a `gatherer_main` for the length of the block; it is killed at its end."""
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "fxtrio.tools.types.gather.gatherer_main"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=root,
        env=environment(),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def environment() -> dict[str, str]:
    """Return the environment of a process that imports a project to look at it."""
    return {
        "FX_SECRET_KEY": secrets.token_urlsafe(32),  # unless there is one
        **os.environ,
        "FX_MODE": "check",
    }
