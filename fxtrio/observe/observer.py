"""Answers `fx tree --pid` from a thread, so that it works also while the event loop stands still.

The thread waits in a system call until somebody asks: by a socket that only processes of the same
user and root may use, or by the signal `SIGNAL`, upon which it writes the tree to standard error.
A signal handler of Python would run on the thread of the loop, once whatever holds it returns to
the interpreter; the one of `faulthandler` runs at once, and what it writes wakes this thread.
"""

from __future__ import annotations

import faulthandler
import json
import os
import select
import signal
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import monotonic

import trio

from fxtrio.errors import PlacedError
from fxtrio.observe.text import text_of
from fxtrio.observe.tree import Births, Loop, take_tree

SIGNAL = signal.SIGUSR2
"""Lets a process write its tree to standard error."""

_PATIENCE = 5.0  # for one that asks to read the answer, in seconds
_END = 1.0
"""For the thread to end with its block, which waits that long at most: standard error may be a
pipe that nobody reads (seconds)."""
_MOST = 64 * 1024 * 1024  # bytes of an answer
_PEER = struct.Struct("3i")

_observed: trio.lowlevel.RunVar[Loop | None] = trio.lowlevel.RunVar("fx-observed", None)
"""The loop that a block observes already, for those who ask for the same within it."""


class ProcessNotObserved(PlacedError):
    """A process does not answer for its tree."""

    remedy = (
        "Pass the number of a process of 'fx dev', or of 'fx serve' in a project with the "
        "plugin 'observe'"
    )

    def __init__(self, process: int, cause: str) -> None:
        super().__init__(f"process {process}", cause)


@contextmanager
def open_observer() -> Iterator[Loop]:
    """Let others ask for the tree of the calling thread's loop, for as long as the block lasts.

    A block within another one of the same loop gives the loop of that one. The signal is the
    process's: a block of another loop leaves it to the first.
    """
    around = _observed.get()
    if around is not None:
        yield around
        return
    births = Births()
    trio.lowlevel.add_instrument(births)
    loop = Loop.here(births)
    token = _observed.set(loop)
    try:
        with _answering(loop):
            yield loop
    finally:
        _observed.reset(token)
        trio.lowlevel.remove_instrument(births)


@contextmanager
def _answering(loop: Loop) -> Iterator[None]:
    """Run the thread for a block. It owns what it reads from, and closes that when it ends."""
    with ExitStack() as stack:
        listener = stack.enter_context(_listening())
        signalled, requested = os.pipe()
        stack.callback(os.close, signalled)
        for descriptor in (
            signalled,
            requested,
        ):  # the handler must not wait for a full pipe either
            os.set_blocking(descriptor, False)
        end, stop = os.pipe()
        stack.callback(os.close, end)
        work = _Thread(loop, listener, signalled, end, stack.pop_all())
    thread = threading.Thread(target=work.run, name="fx-observer", daemon=True)
    registered = threading.current_thread() is threading.main_thread() and _is_free()
    if registered:
        faulthandler.register(SIGNAL, file=requested, all_threads=False)
    thread.start()
    try:
        yield
    finally:
        if registered:
            faulthandler.unregister(SIGNAL)
        os.close(stop)
        thread.join(_END)
        os.close(requested)


def _is_free() -> bool:
    return signal.getsignal(SIGNAL) is signal.SIG_DFL


def _address(process: int) -> str:
    """Return the address, in Linux's abstract namespace: no file that outlives its process."""
    return f"\0fxtrio-tree-{process}"


@contextmanager
def _listening() -> Iterator[socket.socket | None]:
    """Open the socket; None where the system has no such addresses, or another block has it."""
    if sys.platform != "linux":
        yield None
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        try:
            listener.bind(_address(os.getpid()))
        except OSError:
            yield None
            return
        listener.listen(4)
        yield listener


class _Thread:
    def __init__(
        self,
        loop: Loop,
        listener: socket.socket | None,
        signalled: int,
        end: int,
        owned: ExitStack,
    ) -> None:
        self._loop = loop
        self._listener = listener
        self._signalled = signalled
        self._end = end
        self._owned = owned

    def run(self) -> None:
        """Answer until the other end of ``end`` is closed."""
        with self._owned:
            self._serve()

    def _serve(self) -> None:
        waiting = [self._end, self._signalled]
        if self._listener is not None:
            waiting.append(self._listener.fileno())
        while True:
            ready, _, _ = select.select(waiting, [], [])
            if self._end in ready:
                return
            if self._signalled in ready:
                self._drain()
                sys.stderr.write(text_of(take_tree(self._loop, os.getpid()).as_dict()))
                sys.stderr.flush()
            elif self._listener is not None:
                with suppress(OSError):  # whoever asked has left, or does not read
                    self._answer(self._listener.accept()[0])

    def _drain(self) -> None:
        with suppress(BlockingIOError):
            while os.read(self._signalled, 4096):
                pass

    def _answer(self, peer: socket.socket) -> None:
        with peer:
            peer.setblocking(False)
            credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
            _, user, _ = _PEER.unpack(credentials)
            if user in (0, os.geteuid()):
                tree = take_tree(self._loop, os.getpid())
                self._send(peer, memoryview(json.dumps(tree.as_dict()).encode()))

    def _send(self, peer: socket.socket, rest: memoryview) -> None:
        """Send all of an answer, unless nobody reads it or the block ends."""
        deadline = monotonic() + _PATIENCE
        poll = select.poll()  # `select` fails where a process has more than 1,024 descriptors
        poll.register(self._end, select.POLLIN)
        poll.register(peer, select.POLLOUT)
        while rest and (patience := deadline - monotonic()) > 0:
            ready = {descriptor for descriptor, _ in poll.poll(patience * 1000)}
            if self._end in ready:
                return
            if ready:
                rest = rest[peer.send(rest) :]


def _hint(process: int) -> str:
    """Return which children of a process may answer: the workers of a supervisor."""
    children: list[str] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():  # any of them may have started some
            children += (thread / "children").read_text("ascii").split()
    return f"; its child processes are {', '.join(children)}" if children else ""


def ask_process(process: int) -> bytes:
    """Return the tree of another process, as JSON. Raises ProcessNotObserved."""
    if sys.platform != "linux":
        raise ProcessNotObserved(
            process, f"this system has no such sockets; 'kill -USR2 {process}' makes it write its "
            "tree to its standard error"
        )  # fmt: skip
    parts: list[bytes] = []
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.settimeout(_PATIENCE)
            peer.connect(_address(process))
            while part := peer.recv(65536):
                parts.append(part)
                if sum(map(len, parts)) > _MOST:
                    raise ProcessNotObserved(process, "its response is too long")
    except TimeoutError:
        raise ProcessNotObserved(process, f"it has not responded within {_PATIENCE:g} s") from None
    except OSError:
        raise ProcessNotObserved(
            process, "it does not answer for its tree" + _hint(process)
        ) from None
    if not parts:
        raise ProcessNotObserved(process, "it belongs to another user")
    return b"".join(parts)
