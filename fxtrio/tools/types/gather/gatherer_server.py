"""Types of a project, asked of a process that is kept. Used by `fx dev`.

Where there is no such process, as on systems that copy none, one starts for each question.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import attrs
import msgspec
import trio

from fxtrio.compile.project import CheckedProject
from fxtrio.tools.types.gather.gatherer_child import TypesOrder
from fxtrio.tools.types.gather.gatherer_fork import HEAD, LENGTH
from fxtrio.tools.types.gather.gatherer_process import (
    LIMIT,
    TypesUnknown,
    plain_order,
    project_types,
)
from fxtrio.tools.types.gather.gatherer_start import environment
from fxtrio.tools.types.gather.page_types import ProjectTypes, load_types

CAN_FORK = sys.platform == "linux"
"""Whether a process can be made of another one, and does not depend on what only that one has."""


class _Ended(TypesUnknown):
    """The process that is kept has ended; it was not the project that ended it."""


@attrs.define(eq=False)
class KeptGatherer:
    """Asks about the project in ``root``; runs its process in ``nursery``."""

    root: Path
    nursery: trio.Nursery
    _process: trio.Process | None = None
    _asking: trio.Lock = attrs.field(factory=trio.Lock)

    async def types(self, project: CheckedProject) -> ProjectTypes:
        """Return what `project_types` does. Cancelling it ends the process. Raises TypesUnknown."""
        if not CAN_FORK:
            return await project_types(self.root, project)
        order = plain_order(self.root, project)
        async with self._asking:
            is_kept = self._process is not None
            try:
                return await self._answer(order)
            except _Ended:
                if not is_kept:
                    raise
            return await self._answer(order)  # of another one: that had ended before

    async def _answer(self, order: TypesOrder) -> ProjectTypes:
        if self._process is None:
            process: trio.Process = await self.nursery.start(self._run)
            self._process = process
        whole = False
        try:
            found = await _asked(self._process, order)
            whole = True
        finally:
            if not whole:
                self.stop()
        return found

    def stop(self) -> None:
        """End the process: its environment has changed. The next question starts another one."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:  # else its number may be another's
            _kill(process)

    async def _run(self, *, task_status: trio.TaskStatus[trio.Process]) -> None:
        process = await trio.lowlevel.open_process(
            [sys.executable, "-P", "-m", "fxtrio.tools.types.gather.gatherer_fork"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self.root,
            env=environment(),
            process_group=0,
        )
        assert process.stdin is not None and process.stdout is not None  # pipes
        try:
            task_status.started(process)
            await process.wait()
        finally:
            _kill(process)
            with trio.CancelScope(shield=True):
                await process.wait()
                await trio.aclose_forcefully(process.stdin)
                await trio.aclose_forcefully(process.stdout)


async def _asked(process: trio.Process, order: TypesOrder) -> ProjectTypes:
    data = pickle.dumps(order)
    code: int | None = None
    answer = printed = b""
    with trio.move_on_after(LIMIT):
        try:
            assert process.stdin is not None  # a pipe
            await process.stdin.send_all(LENGTH.pack(len(data)) + data)
            code, *sizes = HEAD.unpack(await _received(process, HEAD.size))
            answer = await _received(process, sizes[0])
            printed = await _received(process, sizes[1])
        except (trio.BrokenResourceError, trio.ClosedResourceError, EOFError) as error:
            raise _Ended(await process.wait(), "") from error
    try:
        return load_types(answer)
    except msgspec.DecodeError as error:
        raise TypesUnknown(code, printed.decode("utf-8", "replace")) from error


def _kill(process: trio.Process) -> None:
    """End a process, and what it has begun."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


async def _received(process: trio.Process, size: int) -> bytes:
    """Return so many bytes of what the process writes. Raises EOFError."""
    assert process.stdout is not None  # a pipe
    data = bytearray()
    while len(data) < size:
        more = await process.stdout.receive_some(size - len(data))
        if not more:
            raise EOFError
        data += more
    return bytes(data)
