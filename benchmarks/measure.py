"""One round: start every server, read its idle memory, then have all of them do every work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

import attrs

from benchmarks import processes, servers
from benchmarks.contenders import Contender
from benchmarks.extras import Extra, Figures
from benchmarks.load import Load, WrkFailed, run_wrk
from benchmarks.servers import Server, ServerFailed
from benchmarks.subscribers import WrongMessages
from benchmarks.works import Call, Work

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
    """Memory of all processes after one request for each work, with no other server running."""

    sizes: dict[str, int]
    """Bytes of the body of each work."""

    samples: tuple[Sample, ...]
    extras: dict[str, Figures]
    """Figures of each `Extra`."""


@attrs.define
class _Guest:
    """A contender whose server runs in this round."""

    contender: Contender
    server: Server
    started: float
    idle_mb: float
    sizes: dict[str, int]
    samples: list[Sample] = attrs.field(factory=list)
    extras: dict[str, Figures] = attrs.field(factory=dict)

    def load(self, call: Call, connections: int, seconds: float) -> Load:
        headers = self.server.proof if call.method != "GET" else {}
        return run_wrk(
            self.server.base, call, headers=headers, connections=connections, seconds=seconds
        )


class Round:
    """One turn of all contenders."""

    def __init__(
        self,
        plan: Plan,
        number: int,
        *,
        tell: Callable[[str], None],
        fail: Callable[[str], None],
    ) -> None:
        """``tell`` gets a line for every figure, ``fail`` one for every problem."""
        self._plan = plan
        self._number = number
        self._tell = tell
        self._fail = fail
        self._guests: list[_Guest] = []

    def run(self, contenders: Sequence[Contender]) -> list[Visit]:
        """Start every server alone, then all of them; measure work after work on each in turn.

        What is compared is so measured within seconds, and servers at rest cost the others
        nothing. A contender that fails is left out from then on.
        """
        plan = self._plan
        with ExitStack() as stack:
            for contender in contenders:
                with self._excused(contender.name):
                    self._guests.append(self._meet(contender))
            for guest in list(self._guests):
                with self._excused(guest.contender.name, guest):
                    guest.server = stack.enter_context(servers.serving(guest.contender))
            for work in plan.works:
                self._each(work.name, self._warm_up)
                for connections in plan.connections:
                    self._each(work.name, partial(self._sample, work.name, connections))
            for extra in plan.extras:
                self._each(extra.name, partial(self._measure_extra, extra))
            return [self._visit(guest) for guest in self._guests]

    def _meet(self, contender: Contender) -> _Guest:
        """Start a contender's server for a moment, while no other shares memory with it."""
        with servers.serving(contender) as server:
            sizes = self._check(server, contender)
            time.sleep(SETTLE)
            return _Guest(contender, server, server.started, processes.memory_mb(server.pid), sizes)

    def _check(self, server: Server, contender: Contender) -> dict[str, int]:
        return {
            work.name: servers.check(server, contender.name, contender.calls[work.name])
            for work in self._plan.works
            if work.name in contender.calls
        }

    def _each(self, name: str, measure: Callable[[_Guest, Call], None]) -> None:
        """Measure one thing with every contender that offers it."""
        for guest in list(self._guests):
            call = guest.contender.calls.get(name)
            if call is not None:
                with self._excused(guest.contender.name, guest):
                    measure(guest, call)

    @contextmanager
    def _excused(self, name: str, guest: _Guest | None = None) -> Iterator[None]:
        try:
            yield
        except (ServerFailed, WrkFailed, WrongMessages, OSError) as error:
            self._fail(f"{name}, round {self._number}: {error}")
            if guest is not None:
                self._guests.remove(guest)

    def _warm_up(self, guest: _Guest, call: Call) -> None:
        guest.load(call, max(self._plan.connections), WARM_UP)

    def _sample(self, work: str, connections: int, guest: _Guest, call: Call) -> None:
        before = processes.cpu_seconds(guest.server.pid)
        seen = guest.load(call, connections, self._plan.seconds)
        used = processes.cpu_seconds(guest.server.pid) - before
        self._tell(f"{guest.contender.name} {work} c{connections}: {seen.rate:,.0f}/s")
        guest.samples.append(
            Sample(
                contender=guest.contender.name,
                work=work,
                round=self._number,
                connections=connections,
                rate=seen.rate,
                p50=seen.p50,
                p99=seen.p99,
                errors=seen.errors,
                cpu={name: 1e6 * spent / max(1, seen.requests) for name, spent in used.items()},
            )
        )

    def _measure_extra(self, extra: Extra, guest: _Guest, call: Call) -> None:
        guest.extras[extra.name] = extra.measure(guest.server, call)
        self._tell(f"{guest.contender.name} {extra.name}: done")

    def _visit(self, guest: _Guest) -> Visit:
        return Visit(
            contender=guest.contender.name,
            round=self._number,
            started=guest.started,
            idle_mb=guest.idle_mb,
            sizes=guest.sizes,
            samples=tuple(guest.samples),
            extras=guest.extras,
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
