"""Outages of the store of a shared broker, in full.

    python -m tests.outages [redis] [--only kill]

Under 50 messages a second to 60 subscribers in two processes, the store is killed for 0.2,
1 and 5 seconds, its subscription connections are broken, and it is frozen for 3 and 8
seconds. Prints a line for each, and exits with 1 when anything was lost silently, came
twice or came out of order.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import trio

from tests.outages.run import Outage, run_outage
from tests.realtime.stores import STORES

OUTAGES = (
    Outage("kill", 0.2),
    Outage("kill", 1),
    Outage("kill", 5),
    Outage("cut"),
    Outage("freeze", 3),
    Outage("freeze", 8),
)


async def main(kind: str, only: str | None) -> int:
    bad = 0
    for outage in OUTAGES:
        if only is not None and outage.kind != only:
            continue
        with tempfile.TemporaryDirectory() as folder, STORES[kind](Path(folder)) as store:
            report = await run_outage(store, outage, lead=2, tail=4)
        print(report, flush=True)
        bad += not report.good
    return int(bad > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("store", nargs="?", choices=STORES, default="redis")
    parser.add_argument("--only", choices=["kill", "cut", "freeze"])
    options = parser.parse_args()
    sys.exit(trio.run(main, options.store, options.only))
