"""Measure fxtrio beside other frameworks.

    python -m benchmarks [--quick] [--next] [--only hello,table] [--frameworks fxtrio,pyxle]

Installs the others into benchmarks/.cache, runs everybody in turn, prints tables and
writes benchmarks/results/<date>.json. Needs wrk, and npm for the others.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from datetime import datetime
from functools import partial

from rich.console import Console

from benchmarks import machine, report
from benchmarks.cache import InstallFailed
from benchmarks.contenders import Contender, choose
from benchmarks.extras import EXTRAS
from benchmarks.load import WrkMissing, find_wrk
from benchmarks.measure import Plan, Round, build_times
from benchmarks.results import Results
from benchmarks.servers import ServerFailed
from benchmarks.works import WORKS

FULL = 8.0  # seconds of load
QUICK = 2.0


def main() -> int:
    """Run the suite. Returns 0, or 1 when a contender failed, or 2 for a wrong call."""
    console = Console()
    options = _parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that every block ends
    try:
        find_wrk()
        contenders = choose(options.frameworks, with_next=options.next)
        plan = _plan(options)
    except (WrkMissing, ValueError) as error:
        console.print(str(error), style="red", markup=False)
        return 2
    try:
        return _run(plan, contenders, console, markdown=options.markdown)
    except KeyboardInterrupt:
        console.print("[yellow]interrupted[/yellow]")
        return 130


def _run(plan: Plan, contenders: tuple[Contender, ...], console: Console, *, markdown: bool) -> int:
    results = Results(plan, machine.facts(), datetime.now().astimezone(), contenders)
    report.warn_if_busy(results.machine, console)
    try:
        for family, contender in {c.family: c for c in contenders}.items():
            console.print(f"[dim]installing {family}[/dim]")
            contender.install()
        console.print("[dim]building[/dim]")
        results.builds = build_times(contenders, plan.rounds)
    except (InstallFailed, ServerFailed, subprocess.TimeoutExpired) as error:
        console.print(str(error), style="red", markup=False)
        return 1

    def fail(text: str) -> None:
        results.failures.append(text)
        console.print(text, style="red", markup=False)

    for number in range(1, plan.rounds + 1):
        turn = Round(plan, number, tell=partial(console.print, style="dim"), fail=fail)
        results.visits += turn.run(contenders)
    report.show(results, console, markdown=markdown)
    console.print(f"written to {results.write()}")
    return 1 if results.failures else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.partition("\n")[0]
    )
    names = parser.add_argument_group("what to measure")
    names.add_argument("--only", type=_names, default=(), metavar="WORK,…")
    names.add_argument("--frameworks", type=_names, default=(), metavar="NAME,…")
    names.add_argument("--next", action="store_true", help="let Next.js take part")
    amount = parser.add_argument_group("how much")
    amount.add_argument("--seconds", type=float, help=f"of load per work, {FULL:g} if not told")
    amount.add_argument("--rounds", type=int, help="of all contenders, 3 if not told")
    amount.add_argument(
        "--connections", type=_names, default=("1", "4", "32", "256"), metavar="N,…"
    )
    amount.add_argument("--quick", action="store_true", help=f"{QUICK:g} s, 1 round")
    parser.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    return parser.parse_args()


def _plan(options: argparse.Namespace) -> Plan:
    """Return what to measure. Raises ValueError for an unknown work."""
    known = [work.name for work in WORKS] + [extra.name for extra in EXTRAS]
    unknown = [name for name in options.only if name not in known]
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: no such work. Known: {', '.join(known)}.")
    return Plan(
        works=tuple(work for work in WORKS if not options.only or work.name in options.only),
        extras=tuple(extra for extra in EXTRAS if not options.only or extra.name in options.only),
        seconds=options.seconds or (QUICK if options.quick else FULL),
        connections=tuple(sorted(int(number) for number in options.connections)),
        rounds=options.rounds or (1 if options.quick else 3),
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


if __name__ == "__main__":
    sys.exit(main())
