"""What streams cost a server process, and how soon their values are on screen.

    python -m benchmarks.streams [PART ...]

The parts are those of `PARTS`, all without any. Builds an application in a temporary folder and
serves it with `fx serve`. `resume` needs redis-server, `resume-postgresql` PostgreSQL, and
`screen` nginx, openssl and Chromium, and `deferred` Chromium.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.streams.costs import idle, rounds, unread, value
from benchmarks.streams.deferred import deferred
from benchmarks.streams.resume import resume, resume_postgresql
from benchmarks.streams.screen import screen
from benchmarks.streams.site import write_site

PARTS: dict[str, Callable[[Path], str]] = {
    "value": value,
    "idle": idle,
    "rounds": rounds,
    "unread": unread,
    "resume": resume,
    "resume-postgresql": resume_postgresql,
    "screen": screen,
    "deferred": deferred,
}


def main() -> None:
    """Measure what is asked for, and print a line for each part."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.streams")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parts = parser.parse_args().parts or list(PARTS)
    with tempfile.TemporaryDirectory(prefix="fx-bench-streams-") as folder:
        root = Path(folder) / "app"
        write_site(root)
        for part in parts:
            print(f"{part}: {PARTS[part](root)}", flush=True)


if __name__ == "__main__":
    main()
