"""`python -m benchmarks.dev`: from a save to the screen, measured in Chromium.

    python -m benchmarks.dev [--edits 30] [--starts 5] [--projects starter,notes]
                             [--peers vite,next] [--only "UI text,CSS"]

What is measured is the time from before the write to the frame in which the browser shows it,
the time from the command to the first page, and the CPU time of one save. Needs Chromium, and
npm for the others, which it installs into benchmarks/.cache.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser

from benchmarks import machine
from benchmarks.dev.figures import per_save, shown
from benchmarks.dev.fxtrio import fxtrio
from benchmarks.dev.kept import check_burst, check_state, memory
from benchmarks.dev.model import DevServer
from benchmarks.dev.peers import PEERS
from benchmarks.dev.saving import Saving
from benchmarks.dev.server import first_page, running, show, window
from tests.e2e.support import open_browser

_SAVES = 5  # whose CPU time is counted: each needs some seconds
_ALTERNATING = 50


def main() -> None:
    """Measure what the command line names."""
    options = _parse()
    print(f"{machine.facts()}\nTimes in ms: median (95th percentile) and minimum.")
    for project in filter(None, options.projects.split(",")):
        with _folder() as folder:
            _run(partial(fxtrio, project, folder), options, ours=True)
    for name in filter(None, options.peers.split(",")):
        _run(PEERS[name], options, ours=False)


def _run(make: Callable[[], DevServer], options: argparse.Namespace, *, ours: bool) -> None:
    server = make()
    with open_browser() as browser:
        if options.starts:
            _time_starts(browser, server, options.starts)
        kinds = [kind for kind in server.edits if not options.only or kind in options.only]
        with window(browser) as page, running(server) as run:
            show(page, server, run)
            saving = Saving(server, run, page)
            before = memory(run)
            for kind in kinds:
                times = saving.times(kind, options.edits)
                _say(server, kind, " / ".join(map(shown, times)))
            for kind in ("UI text", "CSS", "loader data"):
                if kind in kinds:
                    used, idle = saving.cpu(kind, _SAVES)
                    _say(server, f"CPU time, {kind}", per_save(used, idle))
            if ours and not options.only:
                _say(server, f"kept over {_ALTERNATING} edits", check_state(saving, _ALTERNATING))
                _say(server, "20 saves in a second", check_burst(saving))
                _say(server, "memory (MB) before, after", f"{before}, {memory(run)}")


def _time_starts(browser: Browser, server: DevServer, count: int) -> None:
    first_page(browser, server)  # fills what is kept on the disk
    times = [first_page(browser, server) for _ in range(count)]
    for title, found in zip(("painted", "reacts"), zip(*times, strict=True), strict=True):
        _say(server, f"first page {title}, warm", shown(found))


def _say(server: DevServer, title: str, figures: object) -> None:
    print(f"{server.name:18} {title:28} {figures}  [load {os.getloadavg()[0]:.1f}]", flush=True)


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="fx-bench-dev-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.dev", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--edits", type=int, default=30, help="Of each kind.")
    parser.add_argument("--starts", type=int, default=5, help="Besides one that is not counted.")
    parser.add_argument("--projects", default="starter,notes", help="Of fxtrio.")
    parser.add_argument("--peers", default="", help=f"Any of {','.join(PEERS)}.")
    parser.add_argument("--only", default="", help="Kinds of saves, by the names that are printed.")
    return parser.parse_args()


if __name__ == "__main__":
    main()
