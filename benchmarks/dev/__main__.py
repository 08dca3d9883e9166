"""`python -m benchmarks.dev`: from a save to the screen, measured in Chromium.

    python -m benchmarks.dev [--peers vite,next,sveltekit] [--pages 3,30,300]
                             [--edits 15] [--starts 3] [--cpu-saves 5] [--visits 60]
                             [--only "UI text,CSS"] [--into RESULTS.json]
    python -m benchmarks.dev --pages "" --projects starter,notes

The first is a table beside others, with as many pages as are named: the first page, every kind of
save, the CPU time of a save, and memory. It is written after each row, and with `--into` the same
command goes on with the sizes that are not complete yet. A size with `--edits 30` and three peers
takes some fifteen minutes; with `--edits 5 --starts 1 --cpu-saves 2 --visits 10`, some four. The
second measures examples, and what saves must not take away. A time is that from before the write
to the frame in which the browser shows it. Needs Chromium, and npm for the others, which it
installs into benchmarks/.cache.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser

from benchmarks import machine
from benchmarks.dev.figures import per_save, summary
from benchmarks.dev.fxtrio import bare, fxtrio
from benchmarks.dev.kept import check_burst, check_state, memory
from benchmarks.dev.model import DevServer
from benchmarks.dev.peers import PEERS
from benchmarks.dev.saving import Saving
from benchmarks.dev.server import first_page, running, show, window
from benchmarks.dev.table import Size, measure_size
from benchmarks.dev.table_report import Table, heading, line
from tests.e2e.support import open_browser

_ALTERNATING = 50


def main() -> None:
    """Measure what the command line names."""
    options = _parse()
    print(f"{machine.facts()}\nTimes: median (95th percentile).")
    sizes = [int(one) for one in options.pages.split(",") if one]
    if sizes:
        _table(sizes, options)
    for project in filter(None, options.projects.split(",")):
        with _folder() as folder:
            _run(partial(fxtrio, project, folder), options)


def _table(sizes: list[int], options: argparse.Namespace) -> None:
    table = Table.new(datetime.now().astimezone())
    if options.into is not None:
        table = Table.read(options.into) if options.into.exists() else table
        table.file = options.into
    for pages in sizes:
        if pages in table.complete:
            print(f"\n{pages} pages: in {table.file} already")
            continue
        facts = machine.facts()
        with _folder() as folder, open_browser() as browser:
            peers = [PEERS[name]() for name in options.peers.split(",") if name]
            servers = [bare(folder), *peers]
            names = [server.name for server in servers]
            print(heading(pages, names), flush=True)
            size = Size(
                pages=pages,
                edits=options.edits,
                starts=options.starts,
                cpu_saves=options.cpu_saves,
                visiting=options.visits,
                only=frozenset(filter(None, options.only.split(","))),
            )
            for row in measure_size(browser, servers, size):
                print(line(row, names), f" [load {os.getloadavg()[0]:.1f}]", flush=True)
                table.add(pages, row, facts)
            table.finish(pages)
    print(f"Written to {table.file}")


def _run(make: Callable[[], DevServer], options: argparse.Namespace) -> None:
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
                _say(server, kind, " / ".join(map(summary, times)))
            for kind in ("UI text", "CSS", "loader data"):
                if kind in kinds:
                    used, idle = saving.cpu(kind, options.cpu_saves)
                    _say(server, f"CPU time, {kind}", per_save(used, idle))
            if not options.only:
                _say(server, f"kept over {_ALTERNATING} edits", check_state(saving, _ALTERNATING))
                _say(server, "20 saves in a second", check_burst(saving))
                _say(server, "memory (MB) before, after", f"{before}, {memory(run)}")


def _time_starts(browser: Browser, server: DevServer, count: int) -> None:
    first_page(browser, server)  # fills what is kept on the disk
    times = [first_page(browser, server) for _ in range(count)]
    for title, found in zip(("painted", "reacts"), zip(*times, strict=True), strict=True):
        _say(server, f"first page {title}, warm", summary(found))


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
    parser.add_argument("--edits", type=int, default=15, help="Of each kind.")
    parser.add_argument("--starts", type=int, default=3, help="Besides one with empty caches.")
    parser.add_argument("--cpu-saves", type=int, default=5, help="Each takes some seconds.")
    parser.add_argument("--visits", type=float, default=60, help="Seconds for each server's pages.")
    parser.add_argument("--pages", default="3,30", help="Of the projects of the table.")
    parser.add_argument("--projects", default="", help="Of fxtrio: starter, or an example.")
    parser.add_argument("--peers", default="", help=f"Any of {','.join(PEERS)}.")
    parser.add_argument("--into", type=Path, help="File of results; sizes in it are left out.")
    parser.add_argument("--only", default="", help="Kinds of saves, by the names that are printed.")
    return parser.parse_args()


if __name__ == "__main__":
    main()
