"""Python code through ruff, one process for each text: it takes some milliseconds.

So every text is formatted under its own name, and ruff finds the settings of the project
itself. Called by `documents`.
"""

from __future__ import annotations

import os
import re
import shutil
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import trio

from fxtrio.errors import PlacedError
from fxtrio.tools.format.result import Unformatted

_PLACE = re.compile(r"^error: Failed to parse .*?:(\d+):(\d+): (.+)$", re.MULTILINE)
_TAIL = 2000  # characters of ruff's output that an error shows


class RuffMissing(PlacedError):
    """There is no ruff, which formats Python code."""

    def __init__(self) -> None:
        super().__init__(
            "ruff",
            "it formats Python, and is not installed",
            "Run \"pip install 'fxtrio[format]'\"",
        )


class RuffFailed(PlacedError):
    """Ruff cannot work, for example because of the project's settings."""

    remedy = "Its message is below"

    def __init__(self, output: str) -> None:
        super().__init__("ruff", "it failed, and formatted nothing", output=output)


def find_ruff() -> Path:
    """Return ruff: of the Python environment that runs this, or else on the PATH.

    Raises RuffMissing.
    """
    own = shutil.which("ruff", path=sysconfig.get_path("scripts"))
    found = own or shutil.which("ruff")
    if found is None:
        raise RuffMissing
    return Path(found)


async def format_python(root: Path, texts: Mapping[Path, str]) -> dict[Path, str | Unformatted]:
    """Return each of ``texts`` as ruff writes it.

    The keys are the absolute paths of their files, which need not exist. What the project's
    settings exclude comes back as it is. Raises RuffMissing and RuffFailed.
    """
    if not texts:
        return {}
    ruff = find_ruff()
    found: dict[Path, str | Unformatted] = {}
    limiter = trio.CapacityLimiter(os.cpu_count() or 1)

    failed: list[RuffFailed] = []

    async def run(path: Path, text: str) -> None:
        async with limiter:
            try:
                found[path] = await _format(ruff, root, path, text)
            except RuffFailed as error:  # of settings, as a rule: all others fail alike
                failed.append(error)
                nursery.cancel_scope.cancel("ruff failed")

    async with trio.open_nursery() as nursery:
        for path, text in texts.items():
            nursery.start_soon(run, path, text)
    if failed:
        raise failed[0]
    return found


async def _format(ruff: Path, root: Path, path: Path, text: str) -> str | Unformatted:
    options = ("--force-exclude", "--stdin-filename", str(path))
    done = await trio.run_process(
        [str(ruff), "format", *options, "-"],
        stdin=text.encode(),
        capture_stdout=True,
        capture_stderr=True,
        check=False,
        cwd=root,
    )
    if done.returncode == 0:
        return done.stdout.decode().replace("\r\n", "\n").replace("\r", "\n")
    output = done.stderr.decode("utf-8", "replace")
    place = _PLACE.search(output)
    if place is None:
        raise RuffFailed(output.strip()[-_TAIL:])
    return Unformatted(int(place[1]), int(place[2]), f"broken Python: {place[3]}")
