"""The command: give random files to all five tools, until the time is up."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import trio

from .files import random_file
from .tools import develop, edit, format_all, run, write_project

_AT_ONCE = 12
"""Files of one project."""


def main() -> int:
    """Return the exit code: 1 when a tool has crashed over a file, which is saved then."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile_files", description=__doc__)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: the time")
    parser.add_argument("--seconds", type=float, default=600, help="(default: %(default)s)")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    seed = options.seed
    while time.monotonic() < end:
        root = Path(tempfile.mkdtemp(prefix="fx-hostile-"))
        random = Random(seed)
        files = {f"{number}": random_file(random) for number in range(_AT_ONCE)}
        print(f"seed {seed}: {root}", flush=True)
        give(root, files)
        shutil.rmtree(root)
        seed += 1
    return 0


def give(root: Path, files: dict[str, bytes]) -> None:
    """Give files to all tools. Raises AssertionError when one does not stand them."""
    paths = write_project(root, files)
    run(root, "check", "--static")
    run(root, "check", "--json")
    run(root, "build")
    run(root, "format", "--check")
    trio.run(format_all, root, paths)
    trio.run(edit, root, paths)
    develop(root, files)


if __name__ == "__main__":
    sys.exit(main())
