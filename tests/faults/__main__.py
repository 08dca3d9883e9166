"""Faults and promises: a bank under faults of its processes, its database and its network.

    python -m tests.faults [--only kill] [--engine sqlite] [--rounds 3] [--logs FOLDER] [--write]

Eight clients move money through `fx serve` with two processes. For each fault and engine it
prints what was promised and broken, and at the end a table. With ``--write`` each row goes into
`docs/reference/promises.md` as soon as it is known, in the place of the one before; rows of
faults that were not run stay. Exits with 1 when a promise was broken.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout
from itertools import groupby
from pathlib import Path

import trio

from tests.faults.bank import build_bank
from tests.faults.judge import PROMISES
from tests.faults.kinds import FAULTS
from tests.faults.run import Report, run_fault
from tests.faults.world import Engine

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "promises.md"
_MARK = "<!-- python -m tests.faults --write -->\n"
_HEADS = ("Fault", "Database", "Runs", "Acknowledged", "Slowest return", *PROMISES)
_TITLES: dict[Engine, str] = {"postgresql": "PostgreSQL", "sqlite": "SQLite"}

Rows = dict[tuple[str, str], str]
"""Lines of the table, by fault and database as they are shown."""


def rows(reports: Sequence[Report]) -> Rows:
    """Return a row for each fault and engine, in the order of the runs."""
    found: Rows = {}
    for (fault, engine), group in groupby(reports, lambda each: (each.fault, each.engine)):
        runs = list(group)
        key = fault, _TITLES[engine]
        cells = [
            *key,
            str(len(runs)),
            str(sum(each.acknowledged for each in runs)),
            f"{max(each.back_after for each in runs):.1f} s",
            *(str(sum(each.broken[name] for each in runs)) for name in PROMISES),
        ]
        found[key] = _line(cells)
    return found


def table(found: Rows) -> str:
    """Return a Markdown table of rows."""
    return "\n".join([_line(_HEADS), "|" + "---|" * len(_HEADS), *found.values()]) + "\n"


def merge(page: str, new: Rows) -> str:
    """Return the page with ``new`` rows in its table, all in the order of `FAULTS`."""
    head, _, old = page.partition(_MARK)
    lines = [line for line in old.splitlines() if line.startswith("| ")][1:]
    known = {tuple(line[2:].split(" | ")[:2]): line for line in lines} | dict(new)
    order = [(fault.name, _TITLES[engine]) for fault in FAULTS for engine in fault.engines]
    return head + _MARK + "\n" + table({key: known[key] for key in order if key in known})


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


async def main(options: argparse.Namespace) -> int:
    reports = []
    with tempfile.TemporaryDirectory(prefix="fx-bank-") as folder:
        built = await build_bank(Path(folder))
        for fault in FAULTS:
            for engine in fault.engines:
                if options.only not in fault.name or options.engine not in ("", engine):
                    continue
                runs = []
                for _ in range(options.rounds):
                    log = io.StringIO()
                    with redirect_stdout(log):  # the servers' logs, for pytest
                        runs.append(await run_fault(built, fault, engine, lead=2, tail=2))
                    if options.logs is not None:
                        name = f"{fault.name}, {engine}, {len(runs)}.log".replace("/", " ")
                        (options.logs / name).write_text(log.getvalue(), encoding="utf-8")
                    print(runs[-1], flush=True)
                reports += runs
                if options.write:
                    page = PAGE.read_text(encoding="utf-8")
                    PAGE.write_text(merge(page, rows(runs)), encoding="utf-8")
    print(table(rows(reports)))
    return int(not all(report.good for report in reports))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="faults whose name contains this")
    parser.add_argument("--engine", default="", choices=["postgresql", "sqlite"])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--logs", type=Path, help="a folder for the servers' logs of each run")
    parser.add_argument("--write", action="store_true", help="write the rows into the docs")
    sys.exit(trio.run(main, parser.parse_args()))
