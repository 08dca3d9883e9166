"""The processes of a run: restarted, killed, shut down."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import attrs
import trio

from fxtrio.errors import BrokerUnreachable
from fxtrio.simulation.engine.places import place_of
from fxtrio.simulation.engine.scheduler import Scheduler
from fxtrio.simulation.faults import FaultPlan, some_steps
from fxtrio.simulation.servers.prepared_app import PreparedApp
from fxtrio.simulation.servers.process import Process, current_process, is_frozen
from fxtrio.simulation.servers.store import MessageStore

_TROUBLE_WITHIN = 5000
"""The step, since the first visitor came, at which a process ends, at most (count)."""

_STALL_WITHIN = 500
"""The step at which a task of the application waits for long, at most (count)."""

_RESTART = 0.5
"""How long a process takes to start again (seconds)."""


@attrs.define(eq=False)
class Servers:
    """Runs ``count`` processes in a nursery. `start` and `stop` surround a run."""

    _prepared: PreparedApp
    _folder: Path
    _plan: FaultPlan
    _scheduler: Scheduler
    _random: Random
    _nursery: trio.Nursery
    _count: int = 1
    _store: MessageStore | None = None
    """What the processes share, if there are several."""

    _slots: list[Process] = attrs.field(factory=list)
    all: list[Process] = attrs.field(factory=list)
    """Every process of the run, in the order of their starts."""

    _changed: trio.Event = attrs.field(factory=trio.Event)
    _starting: int = 0

    @property
    def site(self) -> Any:
        """The site that all processes serve."""
        app = self._slots[0].app
        assert app is not None
        return app.site

    async def start(self) -> None:
        """Start the processes."""
        for slot in range(self._count):
            self._slots.append(await self._start(slot))

    async def stop(self) -> None:
        """Shut the processes down, and let what was left of killed ones end."""
        await self.all_run()
        for process in self._slots:
            await process.shut_down()
        self._scheduler.release()
        for process in self.all:
            if process.killed:
                await process.discard()

    async def choose(self) -> Process:
        """Return a process that takes connections; waits until there is one."""
        while True:
            ready = [process for process in self._slots if process.accepts]
            if ready:
                return self._random.choice(ready)
            await self._changed.wait()

    async def all_run(self) -> None:
        """Wait until no process is being started or stopped."""
        while self._starting or not all(process.accepts for process in self._slots):
            await self._changed.wait()

    async def kill(self) -> None:
        """Kill a process, and wait until it runs again."""
        self._kill(self._random.randrange(self._count))
        await self.all_run()

    async def shut_down(self) -> None:
        """Shut down a process, and wait until it runs again."""
        self._begin_replacing(self._random.randrange(self._count))
        await self.all_run()

    @asynccontextmanager
    async def troubled(self) -> AsyncIterator[None]:
        """Let processes end at any step of the block, as the seed decides; then they all run."""
        plan = self._plan
        plan.calm = False
        for kind, probability in (("kill", plan.faults.kill), ("shutdown", plan.faults.shutdown)):
            name = plan.next_name(kind)
            random = plan.draw(name, probability)
            if random is None:
                continue
            slot, steps = random.randrange(self._count), some_steps(random, _TROUBLE_WITHIN)

            def trouble(kind: str = kind, name: str = name, slot: int = slot) -> None:
                process = self._slots[slot]
                if plan.calm or not process.accepts:
                    return
                if kind == "kill":
                    plan.note(name, f"{process.name} was killed")
                    self._kill(slot)
                else:
                    plan.note(name, f"{process.name} was shut down")
                    self._begin_replacing(slot)

            self._scheduler.call_in(steps, trouble)
        if self._store is not None:
            self._store.plan_cuts()
        self._plan_jump()
        self._plan_stall()
        yield
        plan.calm = True
        await self.all_run()

    def _plan_jump(self) -> None:
        plan = self._plan
        name = plan.next_name("jump")
        random = plan.draw(name, plan.faults.jump)
        if random is None:
            return
        seconds = round(plan.faults.longest ** random.random(), 3)

        def jump() -> None:
            if plan.calm:
                return
            plan.note(name, f"{seconds:g} s passed at once")
            clock: Any = trio.lowlevel.current_clock()
            clock.jump(seconds)

        self._scheduler.call_in(some_steps(random, _TROUBLE_WITHIN), jump)

    def _plan_stall(self) -> None:
        """Let what a handler or a job waits for take long, once, at a step of the seed."""
        plan = self._plan
        name = plan.next_name("stall")
        random = plan.draw(name, plan.faults.slow_task)
        if random is None:
            return
        seconds = round(plan.faults.longest ** random.random(), 3)

        def stall() -> None:
            if plan.calm:
                return
            task = self._scheduler.hold_one(_runs_application)
            if task is None:  # none of the application's can run at this step
                self._scheduler.call_in(1, stall)
                return
            plan.note(name, f"{task.name} waited for {seconds:g} s at {place_of(task)}")
            self._nursery.start_soon(self._let_go, task, seconds)

        self._scheduler.call_in(some_steps(random, _STALL_WITHIN), stall)

    async def _let_go(self, task: trio.lowlevel.Task, seconds: float) -> None:
        await trio.sleep(seconds)
        self._scheduler.let_go(task)

    def _kill(self, slot: int) -> None:
        process = self._slots[slot]
        self._scheduler.is_frozen = is_frozen
        process.kill()
        self._starting += 1
        self._nursery.start_soon(self._restart, slot)

    def _begin_replacing(self, slot: int) -> None:
        self._starting += 1
        self._slots[slot].stop_intake()
        self._nursery.start_soon(self._replace, slot)

    async def _replace(self, slot: int) -> None:
        await self._slots[slot].shut_down()
        await self._restart(slot)

    async def _restart(self, slot: int) -> None:
        """Start a process, as a supervisor does: again while the store cannot be reached."""
        started: Process | None = None
        while started is None:
            await trio.sleep(_RESTART)
            try:
                started = await self._start(slot)
            except* BrokerUnreachable:
                started = None
        self._slots[slot] = started
        self._starting -= 1
        self._tell()

    async def _start(self, slot: int) -> Process:
        name = f"process {len(self.all) + 1}" if self._count > 1 or self.all else "the process"
        process = Process(name, self._prepared, self._folder, shared=self._count > 1)
        await self._nursery.start(process.run)
        self.all.append(process)
        self._tell()
        return process

    def _tell(self) -> None:
        self._changed.set()
        self._changed = trio.Event()


def _runs_application(task: trio.lowlevel.Task) -> bool:
    """Whether a task waits within a handler or a job of a process."""
    return task.context.get(current_process) is not None and bool(place_of(task))
