"""One run: a fresh app, a seeded scheduler, virtual time, and the checks at its end."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

import attrs
import trio
from trio.testing import MockClock

from fxtrio.simulation.accepted_jobs import AcceptedJobs, recorded_jobs
from fxtrio.simulation.bounds import Bounds
from fxtrio.simulation.checks import check, open_files
from fxtrio.simulation.engine.randomness import START, Calendar, open_calendar, seeded
from fxtrio.simulation.engine.rejections import NotSimulated, rejecting
from fxtrio.simulation.engine.scheduler import Scheduler
from fxtrio.simulation.engine.strategies import ByPriority, Shuffled, Strategy, StrategyName
from fxtrio.simulation.engine.threads import Threads
from fxtrio.simulation.engine.timers import short_sleeps
from fxtrio.simulation.engine.trio_internals import (
    is_known,
    ordered_by,
    polled_when_needed,
    virtual_clock,
)
from fxtrio.simulation.failures.chance import Chance
from fxtrio.simulation.failures.trace import Trace
from fxtrio.simulation.faults import Fault, FaultPlan, Faults
from fxtrio.simulation.replaced import recorded_log, replaced, without_collections
from fxtrio.simulation.servers.prepared_app import PreparedApp
from fxtrio.simulation.servers.processes import Servers
from fxtrio.simulation.servers.store import MessageStore
from fxtrio.simulation.world import World, WorldClock

Scenario = Callable[..., Awaitable[object]]
"""A test: an async function of a `World`, and of fixtures."""

LIMIT = 3600.0
"""How long a run may last (seconds of the virtual clock)."""


_LEAP = 5.0
"""More than passes at once while a process looks at its durable jobs (seconds)."""

_LINGER = 10.0
"""How long tasks of the framework may outlast the app that they were begun for (seconds)."""


class Stuck(Exception):
    """Every task waits for another one, and no deadline is left."""


@attrs.frozen(kw_only=True)
class Options:
    """How a scenario is run."""

    faults: Faults
    strategy: StrategyName = "random"
    depth: int = 3
    """For how many orderings ``pct`` looks."""

    processes: int = 1
    arguments: dict[str, Any] = attrs.field(factory=dict)
    """Fixtures of the test, by name."""

    length: int = 0
    """How many steps a run has, about; for ``pct``."""


@attrs.frozen(kw_only=True)
class Variant:
    """A run that is shorter than the one its seed leads to."""

    without: frozenset[str] = frozenset()
    """Names of faults that do not happen."""

    absent: frozenset[str] = frozenset()
    """Names of visitors that do not come."""

    ordered_from: int | None = None
    """The step from which on the oldest task runs first."""

    schedule: int = 0
    """Another order of steps for each number: one visitor less changes what an order means."""


@attrs.frozen(kw_only=True)
class Run:
    """What a run came to."""

    seed: int
    error: BaseException | None
    steps: int
    seconds: float
    """Of the virtual clock."""

    digest: str
    faults: tuple[Fault, ...]
    visitors: tuple[str, ...]
    """All that the test has asked for."""

    absent: frozenset[str]
    """Those that did not come, since the run was shortened."""

    trace: Trace | None
    chance: Chance | None
    log: tuple[str, ...]


@attrs.define(eq=False)
class Runner:
    """Runs one scenario of an app, once for each call of `run`."""

    scenario: Scenario
    app: PreparedApp
    options: Options

    def run(
        self,
        seed: int,
        variant: Variant | None = None,
        *,
        traced: bool = False,
        watched: bool = False,
        keep: bool = False,
    ) -> Run:
        """Run the scenario. The same arguments give the same run.

        ``watched``, which needs ``traced``, looks for chance that the seed does not decide. With
        ``keep`` the following runs begin with its database.
        """
        with without_collections():
            return self._run(seed, variant or Variant(), traced, watched, keep)

    def _run(self, seed: int, variant: Variant, traced: bool, watched: bool, keep: bool) -> Run:
        folder = self.app.new_folder()
        plan = FaultPlan(self.options.faults, str(seed), variant.without)
        scheduler = Scheduler(self._strategy(seed, variant), limit=variant.ordered_from)
        clock, trace = virtual_clock(), Trace(scheduler) if traced else None
        visitors, rejections = list[str](), list[NotSimulated]()
        error: BaseException | None = None
        threads = Threads(plan.delay, scheduler.delay_start)
        chance = Chance(trace.count, self.app.sources()) if trace and watched else None
        with ExitStack() as stack:
            enter = stack.enter_context
            log = enter(recorded_log())
            enter(seeded(str(seed)))
            enter(ordered_by(scheduler))
            enter(threads.in_turn())
            enter(polled_when_needed())
            if is_known(trio.__version__):
                enter(short_sleeps())
            shared = MessageStore(plan, scheduler) if self.options.processes > 1 else None
            enter(replaced(shared, self.app.modules))
            calendar = enter(open_calendar())
            enter(rejecting(rejections.append, threads.is_starting))
            main = _Main(
                *(self, seed, variant, folder, plan, scheduler, calendar, clock, visitors),
                *(log.records, enter(recorded_jobs()), shared),
            )
            if chance is not None:
                enter(chance.watching())
            try:
                trio.run(main.run, clock=clock, instruments=[trace] if trace else [])
            except Exception as caught:
                error = only(caught)
        if keep and error is None:
            self.app.keep_database(folder)
        self.app.forget_run(folder)
        return Run(
            seed=seed,
            error=rejections[0] if rejections else error,
            steps=scheduler.steps,
            seconds=clock.current_time(),
            digest=scheduler.digest,
            faults=tuple(plan.happened.values()),
            visitors=tuple(visitors),
            absent=variant.absent,
            trace=trace,
            chance=chance,
            log=tuple(log.lines()),
        )

    def _strategy(self, seed: int, variant: Variant) -> Strategy:
        random = Random(f"{seed} schedule {variant.schedule}")
        options = self.options
        if options.strategy == "random" or variant.schedule:
            return Shuffled(random)
        return ByPriority.started(random, depth=options.depth, length=options.length)


@attrs.define(eq=False)
class _Main:
    """The main task of a run."""

    _runner: Runner
    _seed: int
    _variant: Variant
    _folder: Path
    _plan: FaultPlan
    _scheduler: Scheduler
    _calendar: Calendar
    _clock: MockClock
    _visitors: list[str]
    _records: list[logging.LogRecord]
    _accepted: AcceptedJobs
    _store: MessageStore | None
    _bounds: Bounds = attrs.field(factory=Bounds)
    _now: float = 0.0
    _leapt: float = 0.0
    """When more time than that passed at once, in which nothing could run."""

    async def run(self) -> None:
        """Start the app, run the scenario, shut the app down, and check what it leaves behind."""
        with trio.CancelScope() as whole:
            stuck = False

            def on_stuck() -> None:
                nonlocal stuck
                stuck = True
                whole.cancel()

            self._scheduler.bind(self._on_turn, on_stuck)
            files = open_files()
            async with trio.open_nursery() as nursery:
                servers = await self._serve(nursery)
                await trio.sleep(_LINGER)
                file = self._folder / "app.db"
                check(servers.all, self._records, file, files, self._bounds, self._accepted)
                nursery.cancel_scope.cancel()
        if stuck:
            raise Stuck("Every task waits for another one, and no deadline is left.")

    async def _serve(self, nursery: trio.Nursery) -> Servers:
        seed, runner = self._seed, self._runner
        random = Random(f"{seed} servers")
        servers = Servers(
            runner.app,
            self._folder,
            self._plan,
            self._scheduler,
            random,
            nursery,
            runner.options.processes,
            self._store,
        )
        self._bounds.processes = servers.all
        await servers.start()
        world = World(
            seed,
            Random(seed),
            WorldClock(self._calendar),
            servers,
            self._plan,
            self._scheduler,
            self._variant.absent,
            self._visitors,
        )
        try:
            with trio.fail_after(LIMIT):
                await runner.scenario(world, **runner.options.arguments)
            self._note_readiness(servers)
            await servers.stop()
        finally:
            self._scheduler.release()  # tasks of killed processes can end now
        return servers

    def _on_turn(self) -> None:
        now = self._clock.current_time()
        if now != self._now:
            if now - self._now > _LEAP:
                self._leapt = now
            self._now = now
            self._calendar.move_to(START + now)
        self._bounds.look()

    def _note_readiness(self, servers: Servers) -> None:
        """Note since when a process could have run the durable jobs that are due."""
        free = [one.began for one in servers.all if not one.killed and one.has_free_worker]
        if free:
            since = max(min(free), self._leapt)
            self._accepted.ready = START + since, START + self._now


def only(error: BaseException) -> BaseException:
    """Return the only error of groups; of several, the first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
