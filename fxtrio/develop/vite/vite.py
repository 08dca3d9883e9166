"""The Node process of `fx dev`: Vite, and the renderer of pages (`fxtrio/js/develop/main.js`).

It is the command's own, so it stays when the process that serves restarts.
"""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import attrs
import msgspec
import trio

from fxtrio.compile.bundling.bundle_errors import BundlerCrashed
from fxtrio.develop.processes.attached_process import AttachedProcess, attach
from fxtrio.develop.processes.launch import Ahead, ViteSettings
from fxtrio.develop.processes.line_stream import read_lines
from fxtrio.errors import FxtrioError

_GRACE = 1.0  # seconds to end by itself once its input has ended
_LAST = 20  # lines that an error shows

_HEARING = 2.5
"""How long Node may be silent until it gets a health check, and until that comes
(seconds): a component that never ends holds up all that it does."""

_MESSAGE = msgspec.json.Decoder(dict[str, Any])


class OrderVoid(FxtrioError):
    """The process restarts: repeat the request with the next one."""

    def __init__(self) -> None:
        super().__init__("Node is restarted.")


@attrs.define(eq=False)
class Vite:
    """Takes orders. Created by `open_vite`; valid until its block ends."""

    settings: ViteSettings
    _process: AttachedProcess
    _lines: list[str] = attrs.field(factory=list)
    """The last that it has printed."""

    _numbers: Any = attrs.field(factory=lambda: itertools.count(1))
    _saying: trio.Lock = attrs.field(factory=trio.Lock)
    _waiting: dict[int, trio.MemorySendChannel[Any]] = attrs.field(factory=dict)
    ended: trio.Event = attrs.field(factory=trio.Event)
    """Set when the process has ended by itself."""

    hung: bool = False
    """Whether it was killed because it did nothing any more."""

    _failed: bool = False

    async def ask(self, op: str, **fields: Any) -> Any:
        """Return the answer to one order.

        Raises BundlerCrashed when there will be none, OrderVoid when the block ends.
        """
        number = next(self._numbers)
        send, receive = trio.open_memory_channel[Any](1)
        self._waiting[number] = send
        try:
            if self.ended.is_set() or self._failed:
                raise self._unanswered()
            await self._say({"id": number, "op": op, **fields})
            with receive:  # without a checkpoint: the sender may have left
                answer = await self._answer(op, receive)
        except (trio.EndOfChannel, trio.BrokenResourceError, trio.ClosedResourceError):
            raise self._unanswered() from None
        finally:
            self._waiting.pop(number, None)
        if "failed" in answer:
            raise BundlerCrashed(0, answer["failed"])
        return answer["done"]

    async def _answer(self, op: str, receive: trio.MemoryReceiveChannel[Any]) -> Any:
        """Return what ``receive`` gives. A process that hears nothing any more is killed."""
        while True:
            with trio.move_on_after(_HEARING):
                return await receive.receive()
            if op == "ping":
                self.hung = True
                with suppress(ProcessLookupError):  # it has ended
                    os.killpg(self._process.process.pid, signal.SIGKILL)
                await self.ended.wait()
            else:
                await self.ask("ping")

    def _unanswered(self) -> FxtrioError:
        if self._failed:
            return OrderVoid()
        return BundlerCrashed(self._process.returncode or 0, "\n".join(self._lines[-_LAST:]))

    async def _say(self, message: Any) -> None:
        async with self._saying:  # orders come from several tasks
            # Half a line would be the beginning of the next. Who ends the process closes this.
            with trio.CancelScope(shield=True):
                await self._process.stdin.send_all(msgspec.json.encode(message) + b"\n")

    async def begin(self, ready: trio.MemorySendChannel[Any]) -> None:
        """Deliver answers until the process ends."""
        assert self._process.stdout is not None  # it is a pipe
        async for line in read_lines(self._process.stdout):
            try:
                message = _MESSAGE.decode(line)
            except msgspec.DecodeError:  # code of the project, such as a plug-in of PostCSS
                self._lines = [*self._lines[-_LAST:], line.decode(errors="replace")]
                continue
            if "id" not in message:
                ready.send_nowait(message)
            elif message["id"] in self._waiting:
                self._waiting[message["id"]].send_nowait(message)
        await self._process.wait()
        self.ended.set()
        ready.close()
        self._let_go()

    def give_up(self) -> None:
        """Answer nobody any more."""
        self._failed = True
        self._let_go()

    def _let_go(self) -> None:
        for send in self._waiting.values():
            send.close()

    async def print_lines(self, echo: Callable[[str], None]) -> None:
        """Pass on what page code and Vite print, without the levels in front."""
        async for line in read_lines(self._process.stderr):
            text = line.decode(errors="replace")
            text = text[3:] if text[:1] == "<" and text[2:3] == ">" else text
            self._lines = [*self._lines[-_LAST:], text]
            echo(text)


@asynccontextmanager
async def open_vite(
    settings: ViteSettings, ahead: Ahead, echo: Callable[[str], None]
) -> AsyncIterator[Vite]:
    """Run the process for as long as the block lasts. Raises NodeMissing and BundlerCrashed."""
    process = attach(await trio.to_thread.run_sync(ahead.vite, settings))
    vite = Vite(settings, process)
    ready_in, ready = trio.open_memory_channel[Any](1)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(vite.print_lines, echo)
            nursery.start_soon(vite.begin, ready_in)
            answer: dict[str, Any] = {"failed": "it has ended at once"}
            with suppress(trio.EndOfChannel):
                answer = await ready.receive()
            if "failed" in answer:
                nursery.cancel_scope.cancel("Vite cannot be started")
            else:
                yield vite
                nursery.cancel_scope.cancel("Vite is not needed any more")
        if "failed" in answer:
            raise BundlerCrashed(process.returncode or 0, answer["failed"])
    finally:
        vite.give_up()
        await _end(process)


async def _end(process: AttachedProcess) -> None:
    with trio.CancelScope(shield=True):
        await trio.aclose_forcefully(process.stdin)
        with trio.move_on_after(_GRACE):
            await process.wait()
        if process.returncode is None:
            process.process.kill()
            await process.wait()
        await process.close()
