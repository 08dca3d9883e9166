"""Defects that are planted in fxtrio itself, and the seeds that find them.

``python -m benchmarks.mutants`` runs the simulation that watches over each with up to 2,000 seeds,
and prints how many it took; with names, only those. A defect is one replacement in one module,
made while that is imported, so that no file changes. A seed counts only if it passes without the
defect, which is tried next. The exit status is 1 if one is not found.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import attrs

from benchmarks.mutant_list import MUTANTS, Mutant

MOST = 2000
"""Seeds that are tried (count)."""

LIMIT = 900
"""How long a defect may take to be found (seconds)."""

ROOT = Path(__file__).parents[1]


class MutantOutdated(Exception):
    """A module no longer has what a mutant replaces."""

    def __init__(self, mutant: Mutant, count: int) -> None:
        super().__init__(
            f"mutant {mutant.name!r}: what it replaces is {count} times in fxtrio.{mutant.module}. "
            "Adapt it to the code."
        )


def mutated(mutant: Mutant) -> str:
    """Return the source of a mutant's module. Raises MutantOutdated."""
    path = ROOT / "fxtrio" / (mutant.module.replace(".", "/") + ".py")
    source = path.read_text("utf-8")
    if (count := source.count(mutant.before)) != 1:
        raise MutantOutdated(mutant, count)
    return source.replace(mutant.before, mutant.after)


@attrs.frozen
class _Finder:
    """Imports the module of a mutant with its defect."""

    mutant: Mutant

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> Any:
        """Find the one module, and leave others to the other finders."""
        if name != f"fxtrio.{self.mutant.module}":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        assert spec is not None
        assert spec.origin is not None
        spec.loader = _Loader(name, spec.origin, mutated(self.mutant))
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._source, self.path, "exec", dont_inherit=True)


def find(mutant: Mutant) -> None:
    """Plant a mutant in this process, and print the first seed that fails, and with what."""
    assert f"fxtrio.{mutant.module}" not in sys.modules
    sys.meta_path.insert(0, _Finder(mutant))
    _print_failure(mutant, range(MOST))


def _print_failure(mutant: Mutant, seeds: Iterable[int]) -> None:
    """Run the simulation of a mutant, planted or not; print the first seed that fails."""
    module, _, name = mutant.test.rpartition(".")
    test = getattr(importlib.import_module(f"tests.simulation.runtime.{module}"), name)
    from fxtrio.simulation.simulate import close_all, runner_of

    try:
        runner = runner_of(test)
        for seed in seeds:
            error = runner.run(seed).error
            if error is not None:
                text = f"{type(error).__name__}: {error}".splitlines()[0]
                print(f"{seed}\t{text}")
                return
    finally:
        close_all()


@attrs.frozen
class Outcome:
    """What came of one mutant."""

    seeds: int | None
    """How many it took (count); None if it was not found."""

    text: str
    """What failed, or why it does not count."""


def look_for(mutant: Mutant) -> Outcome:
    """Look for a mutant, and try the seed that fails without it, each in a process of its own."""
    try:
        planted = _run("--plant", mutant.name)
        seed, _, text = planted.stdout.strip().rpartition("\t")
        if not seed:
            return Outcome(None, f"not found. {planted.stderr.strip()[-300:]}")
        control = _run("--control", mutant.name, seed)
    except subprocess.TimeoutExpired:
        return Outcome(None, f"not found in {LIMIT} s")
    if control.returncode:
        return Outcome(None, f"no answer without it. {control.stderr.strip()[-300:]}")
    if control.stdout.strip():
        return Outcome(None, f"seed {seed} fails without it, too: {text}")
    return Outcome(int(seed) + 1, text)


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.mutants", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False
    )


def main(names: Sequence[str]) -> int:
    """Look for each mutant; return how many were not found."""
    missed = 0
    print(f"{'defect':52}{'seeds':>6}{'s':>6}  what failed")
    for mutant in MUTANTS:
        if names and mutant.name not in names:
            continue
        began = time.monotonic()
        outcome = look_for(mutant)
        missed += outcome.seeds is None
        seeds = "" if outcome.seeds is None else outcome.seeds
        took = time.monotonic() - began
        print(f"{mutant.name:52}{seeds:>6}{took:6.0f}  {outcome.text[:90]}", flush=True)
    return missed


def _named(name: str) -> Mutant:
    return next(one for one in MUTANTS if one.name == name)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--plant"]:
        find(_named(sys.argv[2]))
    elif sys.argv[1:2] == ["--control"]:
        _print_failure(_named(sys.argv[2]), [int(sys.argv[3])])
    else:
        sys.exit(bool(main(sys.argv[1:])))
