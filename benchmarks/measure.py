"""One round with one contender: start, idle memory, then every work under load."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

import attrs

from benchmarks import processes, servers
from benchmarks.contenders import Contender
from benchmarks.extras import Extra, Figures
from benchmarks.load import Load, run_wrk
from benchmarks.works import Work

WARM_UP = 2.0  # seconds of load before a work is measured; Node compiles hot code by then
SETTLE = 0.5  # seconds without requests before memory is read


@attrs.frozen(kw_only=True)
class Plan:
    """How long and how often to measure."""

    works: tuple[Work, ...]
    extras: tuple[Extra, ...]
    seconds: float
    connections: tuple[int, ...]
    rounds: int


@attrs.frozen(kw_only=True)
class Sample:
    """One work of one contender in one round, over some connections."""

    contender: str
    work: str
    round: int
    connections: int
    rate: float
    p50: float
    p99: float
    errors: dict[str, int]
    cpu: dict[str, float]
    """Microseconds of CPU per answer: ``{program: microseconds}``."""


@attrs.frozen(kw_only=True)
class Visit:
    """What one start of one contender's server showed."""

    contender: str
    round: int
    started: float
    """Seconds from the command to the first right answer."""

    idle_mb: float
    """Memory of all processes after one request for each work."""

    loaded_mb: float
    """Memory of all processes after all load."""

    sizes: dict[str, int]
    """Bytes of the body of each work."""

    samples: tuple[Sample, ...]
    extras: dict[str, Figures]
    """Figures of each `Extra`."""


def visit(contender: Contender, plan: Plan, number: int, tell: Callable[[str], None]) -> Visit:
    """Start a contender's server, measure all its works, and end it.

    Raises ServerFailed, WrkFailed and WrongMessages.
    """
    with servers.serving(contender) as server:
        works = [work for work in plan.works if work.name in contender.calls]
        sizes = {
            work.name: servers.check(server, contender.name, contender.calls[work.name])
            for work in works
        }
        time.sleep(SETTLE)
        idle = processes.memory_mb(server.pid)
        samples = [
            sample
            for work in works
            for sample in _measure(server, contender, work, plan, number, tell)
        ]
        time.sleep(SETTLE)
        loaded = processes.memory_mb(server.pid)
        return Visit(
            contender=contender.name,
            round=number,
            started=server.started,
            idle_mb=idle,
            loaded_mb=loaded,
            sizes=sizes,
            samples=tuple(samples),
            extras={
                extra.name: extra.measure(server, contender.calls[extra.name])
                for extra in plan.extras
                if extra.name in contender.calls
            },
        )


def _measure(
    server: servers.Server,
    contender: Contender,
    work: Work,
    plan: Plan,
    number: int,
    tell: Callable[[str], None],
) -> Iterable[Sample]:
    call = contender.calls[work.name]
    headers = server.proof if call.method != "GET" else {}

    def load(connections: int, seconds: float) -> Load:
        return run_wrk(server.base, call, headers=headers, connections=connections, seconds=seconds)

    load(max(plan.connections), WARM_UP)
    for connections in plan.connections:
        before = processes.cpu_seconds(server.pid)
        seen = load(connections, plan.seconds)
        used = processes.cpu_seconds(server.pid) - before
        answers = max(1, seen.requests)
        tell(f"{contender.name} {work.name} c{connections}: {seen.rate:,.0f}/s")
        yield Sample(
            contender=contender.name,
            work=work.name,
            round=number,
            connections=connections,
            rate=seen.rate,
            p50=seen.p50,
            p99=seen.p99,
            errors=seen.errors,
            cpu={program: 1e6 * seconds / answers for program, seconds in used.items()},
        )


def build_times(contenders: Sequence[Contender], rounds: int) -> dict[str, list[float]]:
    """Compile every family's app in turn and return ``{family: [seconds]}``.

    Settings of one family share a build.
    """
    first = {c.family: c for c in reversed(contenders) if c.build is not None}
    times: dict[str, list[float]] = {family: [] for family in first}
    for _ in range(rounds):
        for family, contender in first.items():
            times[family].append(servers.build(contender))
    return times
