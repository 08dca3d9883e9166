"""The command: edit a project at random, compare what everybody sees, and measure the memory."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.e2e.support import open_browser

from .run import Memory, Run, running
from .seen import Wrong

WARM_UP = 20
"""Edits after which everything has been used once: the memory is measured from then on."""


def main() -> int:
    """Return the exit code: 1 when somebody has seen something else than the others."""
    parser = argparse.ArgumentParser(prog="python -m tests.edits", description=__doc__)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: the time")
    parser.add_argument("--edits", type=int, default=200, help="how many (default: %(default)s)")
    parser.add_argument(
        "--restarts", type=int, default=1, help="compare with a restarted server every N edits"
    )
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.edits} edits", flush=True)
    with tempfile.TemporaryDirectory(prefix="fx-edits-") as folder, open_browser() as browser:
        with running(Path(folder), browser, options.seed, _say) as run:
            return _edit(run, options.edits, options.restarts)


def _edit(run: Run, edits: int, restarts: int) -> int:
    measured: list[Memory] = []
    for number in range(1, edits + 1):
        started, loads = time.monotonic(), run.loads
        try:
            done = run.step()
            if number % restarts == 0:
                run.compare_restarted(run.root.with_name("shadow"))
        except Wrong as wrong:
            print(f"{number}: WRONG\n{wrong}\n{run.server.output()[-3000:]}", flush=True)
            return 1
        again = f", {run.loads - loads} documents loaded anew" if run.loads > loads else ""
        print(f"{number}: {done} ({time.monotonic() - started:.1f} s){again}", flush=True)
        if number >= WARM_UP:
            measured.append(Memory.of(run.server))
    if measured:
        print(f"memory (MB): {measured[0]} … {measured[-1]}")
        print(
            f"most: Python {max(one.python for one in measured):.0f}, "
            f"Node {max(one.node for one in measured):.0f}"
        )
    return 0


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
