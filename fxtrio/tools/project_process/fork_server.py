"""A process that has imported the module of a task, and forks for each order.

So the project is imported each time, and fxtrio once. `ForkServer` is the client's side;
`serve_orders` is what runs in the process. It reads frames from standard input, each a length
and an order, and writes one for each: see `HEAD`. It ends with its standard input, and so does
what it has forked.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import attrs
import trio

from fxtrio.errors import PlacedError
from fxtrio.tools.project_process.child import Task, load_task, run_task
from fxtrio.tools.project_process.process import LIMIT, Outcome, read_tail
from fxtrio.tools.project_process.start import command, environment

CAN_FORK = sys.platform == "linux"
"""Whether the system can fork a process that does not depend on the state of its parent."""

LENGTH = struct.Struct("<Q")
"""Of an order (bytes)."""

HEAD = struct.Struct("<iQQ")
"""Exit code, bytes of the answer, and bytes of what the project has printed; these follow."""

MODULE = "fxtrio.tools.project_process.fork_server"


class _ServerEnded(PlacedError):
    """The process that forks has ended; it was not the project that ended it."""

    def __init__(self, code: int) -> None:
        super().__init__(MODULE, f"it ended with {code}", "Start another one")
        self.code = code


@attrs.define(eq=False)
class ForkServer:
    """Gives orders to the module ``task`` in the folder ``root``; its process is in ``nursery``."""

    root: Path
    task: str
    nursery: trio.Nursery
    _process: trio.Process | None = None
    _asking: trio.Lock = attrs.field(factory=trio.Lock)

    async def run_order(self, order: bytes, *, limit: float = LIMIT) -> Outcome:
        """Return what came of ``order``. Cancelling it ends the process."""
        async with self._asking:
            was_running = self._process is not None
            try:
                try:
                    return await self._answer(order, limit)
                except _ServerEnded:
                    if not was_running:
                        raise
                return await self._answer(order, limit)  # the one before had ended by itself
            except _ServerEnded as ended:
                return Outcome(b"", "", ended.code, limit)

    async def _answer(self, order: bytes, limit: float) -> Outcome:
        if self._process is None:
            process: trio.Process = await self.nursery.start(self._run)
            self._process = process
        outcome: Outcome | None = None
        try:
            with trio.move_on_after(limit):
                outcome = await _exchange(self._process, order, limit)
        finally:
            if outcome is None:
                self.stop()
        return outcome or Outcome(b"", "", None, limit)

    def stop(self) -> None:
        """End the process: its environment has changed. The next order starts another one."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:  # else its number may be another's
            _kill(process)

    async def _run(self, *, task_status: trio.TaskStatus[trio.Process]) -> None:
        process = await trio.lowlevel.open_process(
            command(MODULE, self.task),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self.root,
            env=environment(),
            process_group=0,  # by which what it has forked is ended with it
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


async def _exchange(process: trio.Process, order: bytes, limit: float) -> Outcome:
    assert process.stdin is not None  # a pipe
    try:
        await process.stdin.send_all(LENGTH.pack(len(order)) + order)
        code, *sizes = HEAD.unpack(await _received(process, HEAD.size))
        answer = await _received(process, sizes[0])
        printed = await _received(process, sizes[1])
    except (trio.BrokenResourceError, trio.ClosedResourceError, EOFError) as error:
        raise _ServerEnded(await process.wait()) from error
    return Outcome(answer, printed.decode(), code, limit)


def _kill(process: trio.Process) -> None:
    """End a process, and what it has forked."""
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


def serve_orders(task: Task) -> None:
    """Answer orders until standard input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed would be read as a frame
    # A child that collects garbage all the same would write to, and so copy, all of this memory.
    gc.freeze()
    while len(head := sys.stdin.buffer.read(LENGTH.size)) == LENGTH.size:
        (size,) = LENGTH.unpack(head)
        order = sys.stdin.buffer.read(size)
        receiving, sending = os.pipe()
        # A file, and no pipe: nobody has to read it meanwhile, and what a project has left running
        # may go on writing to it without keeping anybody waiting.
        with tempfile.TemporaryFile() as printed:
            child = os.fork()
            if child == 0:
                answers.close()
                os.close(receiving)
                os.dup2(printed.fileno(), 2)
                run_task(task, order, sending)
            os.close(sending)
            answer = _read_all(receiving, child)
            code = _wait(child)
            text = read_tail(printed).encode()
        answers.write(HEAD.pack(code, len(answer), len(text)) + answer + text)
        answers.flush()


def _wait(child: int) -> int:
    """Return how ``child`` has ended; 0 where SIGCHLD is ignored, and nobody learns how."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except ChildProcessError:
        return 0


def _read_all(receiving: int, child: int) -> bytes:
    """Return what ``child`` answers. When nobody waits for it any more, both processes end."""
    poll = select.poll()
    poll.register(receiving, select.POLLIN)
    poll.register(0, 0)  # its end alone
    answer = bytearray()
    while True:
        events = dict(poll.poll())
        if events.get(0, 0) & (select.POLLHUP | select.POLLERR):
            os.kill(child, signal.SIGKILL)
            os._exit(0)
        if receiving in events:
            data = os.read(receiving, 1 << 20)
            if not data:
                os.close(receiving)
                return bytes(answer)
            answer += data


def main() -> None:
    """Run the process. No garbage is collected: those that answer end with their answer."""
    gc.disable()
    serve_orders(load_task(sys.argv[1]))


if __name__ == "__main__":
    main()
