"""Prettier for an editor: one process of Node for each project, which stays between two saves.

To start Node and to load prettier takes longer than to format a page. What a process has
imported stays in it, so another takes its place when that may have changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import trio
from pygls.exceptions import JsonRpcException

from fxtrio.compile.bundling.installation import JS
from fxtrio.node import find_node
from fxtrio.tools.format.prettier import PrettierOrder, run_prettier
from fxtrio.tools.lsp.processes.supervised_process import SupervisedProcess
from fxtrio.tools.lsp.rpc import ConnectionLost

MOST_PROCESSES = 5
"""Processes at a time, over all projects; further ones are there for one order (count)."""

_CODE = ("js", "mjs", "cjs", "ts", "mts", "cts")
_SETTINGS = tuple(f"{name}.{end}" for name in (".prettierrc", "prettier.config") for end in _CODE)
_INSTALLED = ("node_modules/.package-lock.json", "node_modules/prettier/package.json")

Stamp = tuple[tuple[Path, int], ...]


@attrs.define(eq=False)
class _Warm:
    """One process, and when what it has imported was written."""

    process: SupervisedProcess
    stamp: Stamp
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)


class WarmPrettier:
    """Has prettier format. `run` it: it owns the processes."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._warm: dict[tuple[Path, Path, bool], _Warm] = {}
        self._wanted, self._starting = trio.open_memory_channel[_Warm](MOST_PROCESSES)

    async def run(self) -> None:
        """Keep the processes running that orders need, until cancelled."""

        async def keep(warm: _Warm) -> None:
            with warm.scope:
                await warm.process.run()

        async with trio.open_nursery() as nursery:
            async for warm in self._starting:
                nursery.start_soon(keep, warm, name=f"lsp.{warm.process.name}")

    async def format(self, order: PrettierOrder) -> dict[str, Any]:
        """Return the reply to an order, as `fxtrio.tools.format.prettier.RunPrettier`."""
        warm = await self._process(order)
        if warm is not None:
            try:
                reply: dict[str, Any] = await warm.process.request("format", order.message)
                return reply
            except (ConnectionLost, JsonRpcException):
                pass  # it has died, which is reported
        return await run_prettier(order)

    async def _process(self, order: PrettierOrder) -> _Warm | None:
        node = await trio.to_thread.run_sync(find_node)
        stamp = await trio.to_thread.run_sync(_stamp, order)
        key = order.root, order.home, order.static
        found = self._warm.get(key)
        if found is not None and found.stamp == stamp:
            return found
        if found is not None:
            found.scope.cancel("its settings or plug-ins are others now")
        elif len(self._warm) == MOST_PROCESSES:
            return None
        process = SupervisedProcess(
            f"prettier in {order.root.name}",
            [str(node.node), str(JS / "editor" / "formatter.js")],
            cwd=order.cwd,
            env=order.env,
            report=self._report,
        )
        warm = self._warm[key] = _Warm(process, stamp)
        await self._wanted.send(warm)
        return warm


def _stamp(order: PrettierOrder) -> Stamp:
    """Return when the code was written that prettier imports for an order."""
    return tuple(_written(_imported(order)))


def _imported(order: PrettierOrder) -> Iterator[Path]:
    yield from (order.home / name for name in _INSTALLED)
    folders = {folder: None for file in order.texts for folder in file.parents}
    yield from (folder / name for folder in folders for name in _SETTINGS)


def _written(files: Iterable[Path]) -> Iterator[tuple[Path, int]]:
    for file in files:
        try:
            yield file, file.stat().st_mtime_ns
        except OSError:
            continue
