"""How costs grow with rows, pages, connections, members, clients that come back, and tasks.

    python -m benchmarks.growth [SERIES ...] [--quick] [--steady MINUTES]

Prints a table for each series, and writes them to benchmarks/results/growth-<date>.json and .md.
Needs wrk.
"""

from __future__ import annotations

import argparse
import sys
from datetime import datetime

from rich.console import Console

from benchmarks import machine
from benchmarks.growth.returning import returning
from benchmarks.growth.series import SERIES, Amount, allow_descriptors
from benchmarks.growth.steady import steady
from benchmarks.growth.table import Series, write
from benchmarks.load import WrkFailed, WrkMissing, find_wrk
from benchmarks.report import warn_if_busy

ALL = {**SERIES, "returning": returning}

FULL = Amount(seconds=5, most=1_000_000)
QUICK = Amount(seconds=1, most=300)


def main() -> int:
    """Measure what is asked for. Returns 0, 1 when a load failed, or 2 for a wrong call."""
    console = Console()
    options = _parse()
    try:
        find_wrk()
    except WrkMissing as error:
        console.print(str(error), style="red", markup=False)
        return 2
    allow_descriptors()
    facts, began = machine.facts(), datetime.now().astimezone()
    warn_if_busy(facts, console)
    found: list[Series] = []
    try:
        for name in options.series or ALL:
            console.print(f"measuring {name}", style="dim")
            found.append(ALL[name](QUICK if options.quick else FULL))
            _show(found[-1], console)
        if options.steady:
            console.print(f"measuring a steady load for {options.steady:g} min", style="dim")
            found.append(steady(options.steady))
            _show(found[-1], console)
    except WrkFailed as error:
        console.print(str(error), style="red", markup=False)
        return 1
    finally:
        if found and not options.quick:
            console.print(f"written to {' and '.join(map(str, write(found, facts, began)))}")
    return 0


def _show(series: Series, console: Console) -> None:
    console.print(f"\n[bold]{series.name}[/bold]\n{series.note}", highlight=False)
    console.print(series.as_table())


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.growth", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("series", nargs="*", choices=[[], *ALL], metavar="SERIES")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, a second for each row, and no files"
    )
    parser.add_argument(
        "--steady",
        type=float,
        default=0.0,
        metavar="MINUTES",
        help="also load one page at 70 %% of the highest rate for so long",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
