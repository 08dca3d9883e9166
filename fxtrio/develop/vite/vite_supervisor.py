"""Node, for as long as `fx dev` runs: restarted when its settings have changed.

It may also end by itself: killed, or for want of memory. Then it is started again, a few times
in a row; its orders go to the next one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import attrs
import trio

from fxtrio.compile.bundling.bundle_errors import BundlerCrashed
from fxtrio.develop.processes.early_node import public_variables
from fxtrio.develop.processes.launch import Ahead, ViteSettings
from fxtrio.develop.reload.classify_changes import read_packages
from fxtrio.develop.vite.standing_problems import StandingProblems
from fxtrio.develop.vite.vite import Vite, open_vite
from fxtrio.errors import FxtrioError

_REVIVALS = 3
_WITHIN = 60.0  # seconds: what ends more often than that is left alone until a file is saved

_HUNG = "The bundler did not respond: code of a page may run in an endless loop while it renders."


@attrs.define(eq=False)
class ViteSupervisor:
    """Runs the process in ``nursery``. `start` comes first."""

    root: Path
    nursery: trio.Nursery
    ahead: Ahead
    report: Callable[[str], None]
    begin: Callable[[], Awaitable[None]]
    """Calls `start`, and tells the new process what it must know by `ask_now`."""

    problems: StandingProblems = attrs.field(factory=StandingProblems)
    """What it shows in browsers."""

    _vite: Vite | None = None
    _beginning: trio.Lock = attrs.field(factory=trio.Lock)
    _starting: trio.Lock = attrs.field(factory=trio.Lock)
    _renewal: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    _ends: deque[float] = attrs.field(factory=lambda: deque(maxlen=_REVIVALS + 1))
    """When it has ended by itself."""

    _packages: bytes = b""
    _variables: dict[str, str] = attrs.field(factory=dict)
    """Those that it has been started with."""

    @property
    def runs(self) -> bool:
        """Whether it takes orders."""
        return self._vite is not None and not self._vite.ended.is_set()

    async def start(self, settings: ViteSettings) -> bool:
        """Make it run with ``settings``; return whether it has been restarted.

        Raises NodeMissing and BundlerCrashed.
        """
        async with self._starting:
            return await self._start(settings)

    async def _start(self, settings: ViteSettings) -> bool:
        packages, self._packages = self._packages, await self._packages_now()
        variables, self._variables = self._variables, public_variables()
        before = self._vite.settings if self._vite is not None and self.runs else None
        now = settings, self._packages, self._variables
        is_there = (Path(settings.folder) / "runtime").is_dir()  # somebody may have removed it
        if (before, packages, variables) == now and is_there:
            return False
        self._renewal.cancel("settings, packages or public variables have changed")
        self._renewal = trio.CancelScope()
        self.problems.begin()
        try:
            await self.nursery.start(self._run, settings, self._renewal)
        except BaseException:  # also when it is cancelled
            self._vite = None  # the one before takes no orders any more
            raise
        return True

    async def has_other_packages(self) -> bool:
        """Return whether others are installed than those that it has been started with."""
        return await self._packages_now() != self._packages

    async def ask(self, op: str, fields: dict[str, Any]) -> Any:
        """Return the answer to one order, of a process that is started for it if none runs.

        One that ends meanwhile is replaced once. Raises NodeMissing, and what `Vite.ask` does.
        """
        await self._see_that_it_runs()
        try:
            return await self.ask_now(op, fields)
        except BundlerCrashed:
            if self.runs:
                raise
        await self._see_that_it_runs()
        return await self.ask_now(op, fields)

    async def ask_now(self, op: str, fields: dict[str, Any]) -> Any:
        """Return the answer of the process that runs. Raises what `Vite.ask` does."""
        assert self._vite is not None  # it has been started
        return await self._vite.ask(op, **fields)

    async def send_problems(self, keys: Iterable[str] | None = None) -> None:
        """Send the problems that it lacks, of some or of all. Raises what `ask` does."""
        await self._send_problems(self.ask, keys)

    async def _send_problems(
        self,
        ask: Callable[[str, dict[str, Any]], Awaitable[Any]],
        keys: Iterable[str] | None = None,
    ) -> None:
        with self.problems.delivering(keys) as lacking:
            for key, found in lacking.items():
                await ask("problems", {"key": key, "problems": found})

    async def _see_that_it_runs(self) -> None:
        if self.runs:
            return
        async with self._beginning:  # orders come from several tasks
            if not self.runs:
                await self.begin()
                await self._send_problems(self.ask_now)

    async def _revive(self) -> None:
        try:
            await self._see_that_it_runs()
        except FxtrioError as error:
            self.report(str(error))

    async def _packages_now(self) -> bytes:
        return await trio.to_thread.run_sync(read_packages, self.root)

    async def _run(
        self,
        settings: ViteSettings,
        renewal: trio.CancelScope,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        with renewal:
            async with open_vite(settings, self.ahead, self.report) as vite:
                self._vite = vite
                task_status.started()
                await vite.ended.wait()
            if vite.hung:
                self.report(_HUNG)
            now, ends = trio.current_time(), self._ends
            ends.append(now)
            if len(ends) > _REVIVALS and now - ends[0] < _WITHIN:
                self.report("The bundler has exited again. Save a file to restart it.")
            else:
                self.report("The bundler has exited, and restarts.")
                self.nursery.start_soon(self._revive)
