"""Node, for as long as `fx dev` runs: started anew when what it was started with is another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import trio

from fxtrio.cli.develop.launch import Ahead, ViteSettings, public_variables
from fxtrio.cli.develop.shown import Shown
from fxtrio.cli.develop.sorting import read_packages
from fxtrio.cli.develop.vite import Vite, open_vite


@attrs.define(eq=False)
class KeptVite:
    """Runs the process in ``nursery``. `start` comes first, and again when `runs` is false."""

    root: Path
    nursery: trio.Nursery
    ahead: Ahead
    report: Callable[[str], None]

    _vite: Vite | None = None
    _renewal: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    _packages: bytes = b""
    _variables: dict[str, str] = attrs.field(factory=dict)
    """Those that it has been started with."""

    _wrong: dict[str, list[Shown]] = attrs.field(factory=dict)
    """What it was last told of mistakes, by who has found them."""

    @property
    def runs(self) -> bool:
        """Whether it takes orders."""
        return self._vite is not None and not self._vite.ended.is_set()

    async def start(self, settings: ViteSettings) -> bool:
        """See to it that it runs with ``settings``; return whether it has been started anew.

        Raises NodeMissing and BundlerCrashed.
        """
        packages, self._packages = self._packages, await self._packages_now()
        variables, self._variables = self._variables, public_variables()
        before = self._vite.settings if self._vite is not None and self.runs else None
        now = settings, self._packages, self._variables
        if (before, packages, variables) == now:
            return False
        self._renewal.cancel("settings, packages or public variables have changed")
        self._renewal = trio.CancelScope()
        self._wrong.clear()
        await self.nursery.start(self._run, settings, self._renewal)
        return True

    async def has_other_packages(self) -> bool:
        """Return whether others are installed than those that it has been started with."""
        return await self._packages_now() != self._packages

    def is_news(self, key: str, problems: list[Shown]) -> bool:
        """Return whether ``problems`` are to be told: others than those of the last call."""
        before, self._wrong[key] = self._wrong.get(key, []), problems
        return before != problems

    async def ask(self, op: str, fields: dict[str, Any]) -> Any:
        """Return the answer to one order. Raises BundlerCrashed when there will be none."""
        assert self._vite is not None  # it has been started
        return await self._vite.ask(op, **fields)

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
            self.report("The bundler has ended. Save a file to start it again.")
