"""Starts a Node process, and ties it to this one. Knows nothing of trio, so that it can be
done before trio is imported.

Used by `fxtrio.ssr.process.node_process`, whose block then owns the process, and by
`fxtrio.ssr.process.prestart`.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Final, Literal

import msgspec

from fxtrio.config import Config
from fxtrio.manifest import Manifest
from fxtrio.node import find_node, node_version
from fxtrio.ssr.errors import SsrStartFailed
from fxtrio.ssr.process.sandbox import (
    choose_permissions,
    close_memory,
    start_unprivileged,
    worker_environment,
)

WORKER: Final = Path(__file__).parents[2] / "js" / "worker" / "worker.cjs"

SOCKET_BUFFER: Final = 1024 * 1024
"""The kernel's buffer of either direction (bytes), so that batches pass in one call."""


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters with which all processes of a pool are started."""

    bundle: Path
    """The SSR bundle."""

    node: str
    """Node's executable, a path or a name on the PATH."""

    heap_mb: int
    """Heap limit of a process (MiB)."""

    mode: Literal["production", "development"] = "production"
    """NODE_ENV: decides which build of React is loaded by a bundle that has both."""

    def command(self, *arguments: object, threads: bool = False) -> list[str]:
        """Return the command line, ``arguments`` after the bundle.

        ``threads`` is whether the process may start threads.
        """
        options = [f"--max-old-space-size={self.heap_mb}"]
        # Without links: Node resolves them by looking into folders that it may not read.
        worker, bundle = WORKER.resolve(), self.bundle.resolve()
        version = node_version(self.node)
        if version is not None:  # else it does not start anyway
            folders = worker.parent, bundle.parent
            options += choose_permissions(version, folders, threads=threads)
        return [self.node, *options, str(worker), str(bundle), *map(str, arguments)]


def choose_launch(build: Path, manifest: Manifest, config: Config) -> Launch:
    """Return how the processes of a built app are started. Raises NodeMissing."""
    return Launch(
        bundle=build / manifest.assets.server,
        node=str(find_node().node),
        heap_mb=config.ssr.heap_mb,
        mode=manifest.mode,
    )


class LaunchedNode(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A started process. Its owner calls `close` in the end."""

    process: subprocess.Popen[bytes]
    socket: socket.socket
    """Non-blocking; end of file once the process has exited."""

    mark: IO[bytes]
    """Its first four bytes say which request is worked on."""

    stdout: IO[bytes]
    stderr: IO[bytes]
    _held: ExitStack
    """All that has to be closed."""

    def kill(self) -> None:
        """End the process, which has nothing to do yet, and close everything."""
        self.process.kill()
        self.process.wait()
        self.close()

    def close(self) -> None:
        """Close all handles; the process has exited, or will because of this."""
        self._held.close()


def launch_node(launch: Launch) -> LaunchedNode:
    """Start a process, which also ends when this one does, for whatever reason.

    Raises SsrStartFailed when Node cannot be started.
    """
    with ExitStack() as held:
        ours, theirs = (held.enter_context(end) for end in socket.socketpair())
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SOCKET_BUFFER)
        ours.setblocking(False)
        mark = held.enter_context(_open_mark())
        parent_death = held.enter_context(ParentDeathPipe())
        watching = parent_death.arguments
        command = launch.command(theirs.fileno(), mark.fileno(), *watching, threads=bool(watching))
        process = _start(launch, command, (theirs.fileno(), mark.fileno(), parent_death.read))
        parent_death.tie(process.pid)
        theirs.close()
        assert process.stdout is not None and process.stderr is not None  # they are PIPE
        return LaunchedNode(
            process=process,
            socket=ours,
            mark=mark,
            stdout=held.enter_context(process.stdout),
            stderr=held.enter_context(process.stderr),
            _held=held.pop_all(),
        )


def _start(
    launch: Launch, command: list[str], descriptors: tuple[int, ...]
) -> subprocess.Popen[bytes]:
    """Start the process with these ``descriptors`` and none of the server's secrets."""

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=descriptors,
            env=worker_environment(launch.mode),
            start_new_session=True,  # a Ctrl-C is for the server, which ends its workers
        )

    try:
        if launch.mode != "production":  # a debugger may look at what is in development
            return start()
        process = start_unprivileged(start)
        close_memory()  # before page code runs, which takes Node a while
        return process
    except OSError as error:
        cause = (
            f"could not be started with {launch.node!r}: {error.strerror}. "
            "Install Node 20 or later, or the extra fxtrio[node]"
        )
        raise SsrStartFailed(launch.bundle, cause) from error


def _open_mark() -> IO[bytes]:
    """Return a file for `LaunchedNode.mark`: in memory, where the system has that."""
    if sys.platform == "linux":
        return os.fdopen(os.memfd_create("fxtrio-ssr-mark"), "w+b", buffering=0)
    # An expensive import, and not needed on Linux.
    import tempfile

    return tempfile.TemporaryFile(buffering=0)


class ParentDeathPipe:
    """A pipe without a writer: when this process exits, the kernel kills the other one.

    The kernel does so (``F_SETSIG`` of fcntl(2)), so it works for a process in an endless
    loop, and costs neither a thread nor a timer. Unlike ``PR_SET_PDEATHSIG`` it is
    independent of the thread that started the process. Where the kernel cannot, `arguments`
    makes the worker watch its parent in a thread (8 MiB, 30 ms at the start).
    """

    def __init__(self, *, by_kernel: bool = True) -> None:
        self.read, self._write = os.pipe()
        """The end that the other process has to inherit."""

        self._by_kernel = by_kernel and self._choose_signal()
        self.arguments: tuple[int, ...] = () if self._by_kernel else (os.getpid(),)
        """Additional arguments for the worker."""

    def __enter__(self) -> ParentDeathPipe:
        return self

    def __exit__(self, *exc_info: object) -> None:
        os.close(self.read)
        os.close(self._write)

    def tie(self, pid: int) -> None:
        """Let ``pid``, which has inherited `read`, die with this process."""
        if sys.platform == "linux" and self._by_kernel:
            with suppress(ProcessLookupError):  # it has died already
                fcntl.fcntl(self.read, fcntl.F_SETOWN, pid)
            flags = fcntl.fcntl(self.read, fcntl.F_GETFL)
            fcntl.fcntl(self.read, fcntl.F_SETFL, flags | os.O_ASYNC)

    def _choose_signal(self) -> bool:
        """Return whether the kernel will do it."""
        if sys.platform == "linux":
            with suppress(OSError):  # something that only looks like Linux
                fcntl.fcntl(self.read, fcntl.F_SETSIG, signal.SIGKILL)
                return True
        return False
