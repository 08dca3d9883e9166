"""The command: attack for a time, or send one saved case again."""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path

import trio

from ..db.cluster import programs, running_cluster
from .answers import read_answer
from .attack import Attack, for_seconds, replay
from .cases import Case
from .findings import Finding
from .surfaces import SURFACES, make_cases
from .target import build, open_target
from .tools import attack_commands, attack_development


def main() -> int:
    """Return the exit code: 1 when something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument(
        "--seconds", type=float, default=540, help="how long (default: %(default)s)"
    )
    parser.add_argument("--cases", type=int, help="end after so many cases")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: the time")
    parser.add_argument("--surface", action="append", choices=SURFACES, help="only these")
    parser.add_argument("--no-tools", action="store_true", help="leave the commands and fx dev out")
    parser.add_argument("--found", type=Path, default=Path("found"), help="folder for the bytes")
    parser.add_argument("--replay", type=Path, help="send a saved case again, and nothing else")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = build(Path(folder))
        if options.replay is not None:
            return trio.run(_replay, root, options.replay, options.found)
        print(f"seed {options.seed}, for {options.seconds:g} s")
        found = 0 if options.no_tools or options.surface else _attack_tools(Path(folder), options)
        with _postgres() as database:
            return trio.run(partial(_attack, root, database, options)) or min(found, 1)


def _attack_tools(folder: Path, options: argparse.Namespace) -> int:
    """Attack the commands once, and `fx dev`; return how much was found."""
    count = 0
    scratch = Path(tempfile.mkdtemp(prefix="fx-hostile-"))
    attacks = (
        attack_commands(scratch, random.Random(options.seed)),
        attack_development(folder / "developed"),
    )
    for found in chain(*attacks):
        count += 1
        print(found.report(options.found), flush=True)
    print(f"the tools: {count} findings")
    if not count:
        shutil.rmtree(scratch)
    return count


@contextmanager
def _postgres() -> Iterator[Callable[[], str] | None]:
    """Give a PostgreSQL of our own, where its programs are; it has races that SQLite has not."""
    if not (programs() / "initdb").exists():
        yield None
        return
    with running_cluster() as cluster:
        yield cluster.new_database


async def _attack(
    root: Path, database: Callable[[], str] | None, options: argparse.Namespace
) -> int:
    def report(found: Finding) -> None:
        print(found.report(options.found), flush=True)

    attack = Attack(root, report, database)
    cases = make_cases(options.seed, options.surface or tuple(SURFACES))
    await attack.run(islice(cases, options.cases), until=for_seconds(options.seconds))
    print(
        f"{attack.cases} cases, {len(attack.findings)} findings; the loop was held for "
        f"{attack.longest * 1000:.0f} ms at most, "
        f"{attack.longest_lag * 1000:.0f} ms with its threads, the process has grown by "
        f"{attack.growth / 1e6:.0f} MB"
    )
    return 1 if attack.findings else 0


async def _replay(root: Path, path: Path, folder: Path) -> int:
    case = Case.load(path)
    count = 0
    async with open_target(root) as target:
        answer = read_answer(case.protocol, await target.send(case))
        print(f"answered with {answer.statuses} {answer.codes}: {answer.text[:1000]!r}")
        async for found in replay(target, case):
            count += 1
            print(found.report(folder))
    print(f"{count} findings")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
