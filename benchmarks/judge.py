"""What fxtrio is meant to reach, beside what it reached in a run."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from benchmarks.extras import EXTRA_EXACTLY, EXTRA_MOST, EXTRA_TIMES
from benchmarks.results import Results
from benchmarks.works import BUILD_WITHIN, IDLE_WITHIN, START_WITHIN

OURS = "fxtrio"
RIVAL = "pyxle"
USUAL = 32  # connections at which frameworks are compared
SPREAD = 2.0  # what p99 may be in p50
MANY = 256  # connections, at which
MANY_WITHIN = 50.0  # is the p99 of hello in milliseconds


@attrs.frozen
class Judgement:
    """One target."""

    target: str
    wanted: str
    measured: str
    met: bool


def judge(results: Results) -> Iterator[Judgement]:
    """Yield the targets whose figures were measured."""
    yield from _rates(results)
    yield from _extras(results)
    for text, name, wanted in (
        ("start, s", "started", START_WITHIN),
        ("memory idle, MB", "idle_mb", IDLE_WITHIN),
    ):
        value = results.of_visits(OURS, name)
        if value is not None:
            yield Judgement(text, f"{wanted:g}", f"{value:.2f}", value <= wanted)
    for contender in results.contenders:
        if contender.name == OURS and (seconds := results.build_seconds(contender)):
            yield Judgement(
                "build, s", f"{BUILD_WITHIN:g}", f"{seconds:.2f}", seconds <= BUILD_WITHIN
            )


def _rates(results: Results) -> Iterator[Judgement]:
    medians = results.medians()
    usual = min(results.plan.connections, key=lambda connections: abs(connections - USUAL))
    for work in results.plan.works:
        for target in work.targets:
            ours = medians.get((target.contender, work.name, usual))
            theirs = medians.get((target.rival, work.name, usual))
            if ours and theirs and theirs.rate:
                times = ours.rate / theirs.rate
                less = sum(theirs.cpu.values()) / max(1e-9, sum(ours.cpu.values()))
                text = f"{work.name}: {target.contender} against {target.rival}"
                measured = f"{times:.1f} x, with 1/{less:.1f} of the CPU"
                yield Judgement(text, f"{target.times:g} x", measured, times >= target.times)
        own = medians.get((OURS, work.name, usual))
        if own and own.p50:
            spread = own.p99 / own.p50
            yield Judgement(
                f"{work.name}: p99 / p50", f"{SPREAD:g}", f"{spread:.1f}", spread <= SPREAD
            )
    many = medians.get((OURS, "hello", MANY))
    if many:
        text = f"hello: p99 at {MANY} connections, ms"
        yield Judgement(text, f"{MANY_WITHIN:g}", f"{many.p99:.1f}", many.p99 <= MANY_WITHIN)


def _extras(results: Results) -> Iterator[Judgement]:
    for (extra, figure), medians in results.extras().items():
        ours, theirs = medians.get(OURS), medians.get(RIVAL)
        if ours is None:
            continue
        if figure in EXTRA_TIMES and theirs:
            wanted, times = EXTRA_TIMES[figure], ours / theirs
            text = f"{wanted:g} x {RIVAL}"
            yield Judgement(f"{extra}: {figure}", text, f"{times:.1f} x", times >= wanted)
        elif figure in EXTRA_MOST:
            wanted = EXTRA_MOST[figure]
            yield Judgement(f"{extra}: {figure}", f"{wanted:g}", f"{ours:.1f}", ours <= wanted)
        elif figure in EXTRA_EXACTLY:
            wanted = EXTRA_EXACTLY[figure]
            yield Judgement(f"{extra}: {figure}", f"{wanted:g}", f"{ours:g}", ours == wanted)
