"""Starts Node and the process that serves. Knows nothing of trio: `fx dev` begins with it.

Each of the three processes has some tenths of a second to import, so they do it at the same
time. `vite` and `server_child` take over what `Ahead` has.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import socket

import attrs

from fxtrio.atomic_write import make_folder
from fxtrio.build_folder import require_no_link
from fxtrio.compile.bundling.installation import is_whole, toolchain_folder
from fxtrio.config import Config
from fxtrio.develop.processes.debugger import interpreter_arguments
from fxtrio.develop.processes.early_node import EarlyNode, public_variables, start_node
from fxtrio.develop.processes.forked_process import ForkedProcess
from fxtrio.develop.processes.messages import BEGIN, VARIABLE, ChildSettings
from fxtrio.errors import FxtrioError
from fxtrio.manifest import FOLDERS
from fxtrio.node import find_node

_EDITORS = {
    **{
        name: f"{name}://file{{file}}:{{line}}:{{column}}"
        for name in ("vscode", "vscode-insiders", "vscodium", "cursor", "windsurf", "zed")
    },
    "idea": "idea://open?file={file}&line={line}&column={column}",
    "pycharm": "pycharm://open?file={file}&line={line}&column={column}",
}


def editor_url(named: str) -> str:
    """Return the URL that opens a place in an editor, by name or as the URL itself.

    It has ``{file}``, ``{line}`` and ``{column}`` in it. VS Code is the one without a name.
    """
    return named if "{file}" in named else _EDITORS.get(named, _EDITORS["vscode"])


@attrs.frozen(kw_only=True)
class ViteSettings:
    """What Node is started with (`Settings` of settings.d.ts)."""

    root: str
    folder: str
    base: str
    toolchain: str
    sockets: str
    editor: str = attrs.field(factory=lambda: editor_url(os.environ.get("FX_EDITOR", "")))
    overlay: bool = True
    python: str = sys.executable

    @classmethod
    def of(cls, root: Path, config: Config, *, toolchain: Path, sockets: Path) -> ViteSettings:
        """Return those of the project in ``root``. Raises LinkInTheWay."""
        return cls(
            root=str(root),
            folder=str(require_no_link(root, FOLDERS["development"])),
            base=f"{config.base_url}/_fx/",
            toolchain=str(toolchain),
            sockets=str(sockets),
            overlay=config.dev.overlay,
        )


def launch_vite(settings: ViteSettings, early: EarlyNode | None = None) -> subprocess.Popen[bytes]:
    """Give Node its ``settings``: the ``early`` one, or one that is started now.

    It says on its standard output when it is ready. Raises NodeMissing and OSError.
    """
    node, root = find_node().node, Path(settings.root)
    make_folder(Path(settings.folder))
    for name in ("http", "ssr", "hot"):
        (Path(settings.sockets) / name).unlink(missing_ok=True)
    process = None if early is None else early.take(node, root)
    if process is None:
        process = start_node(node, root)
    assert process.stdin is not None  # it is PIPE
    order = {**attrs.asdict(settings), "variables": public_variables()}
    with suppress(BrokenPipeError):  # it has ended, as whoever reads its output learns
        process.stdin.write(json.dumps(order).encode() + b"\n")
    return process


@attrs.frozen(kw_only=True)
class Server:
    """How to start the process that serves."""

    root: Path
    app: str
    host: str
    """The host name of requests, besides those of the settings."""

    vite: Path
    """Folder of the sockets on which Node listens."""

    socket: socket
    inspect: int = 0
    """The port on which it waits for a debugger; 0 for none."""


@attrs.define(eq=False)
class LaunchedServer:
    """A process that serves as soon as `BEGIN` and `SERVE` come to its standard input."""

    process: subprocess.Popen[bytes] | ForkedProcess
    replies: int
    """Where it answers (a file descriptor); whoever has this object closes it."""

    begun: bool = False
    """Whether it imports the app, or has done so."""

    imported: bool = False
    """Whether it has said that it has done so."""

    @property
    def has_died(self) -> bool:
        """Whether it has ended after its import, which has nothing to say about the project."""
        return self.imported and self.process.poll() is not None


def server_variables(server: Server, *, replies: int) -> dict[str, str]:
    """Return what the process that serves has in its environment besides what we have."""
    settings = ChildSettings(
        root=str(server.root),
        app=server.app,
        host=server.host,
        vite=str(server.vite),
        socket=server.socket.fileno(),
        replies=replies,
    )
    return {
        VARIABLE: settings.to_json(),
        "FX_MODE": "development",
        "PYTHONUNBUFFERED": "1",
    }


def launch_server(server: Server) -> LaunchedServer:
    """Start the process that serves."""
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(
            [
                sys.executable,
                *interpreter_arguments(server.inspect),
                "-m",
                "fxtrio.develop.serving.child_process",
            ],
            bufsize=0,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=server.root,
            env={
                **os.environ,
                **server_variables(server, replies=writing),
            },
            pass_fds=(server.socket.fileno(), writing),
            start_new_session=True,  # so that Ctrl-C reaches this command only
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return LaunchedServer(process, reading)


@attrs.define(eq=False)
class Ahead:
    """Processes that were started in advance, each taken once."""

    _server: tuple[Server, LaunchedServer] | None = None
    _vite: tuple[ViteSettings, subprocess.Popen[bytes]] | None = None
    _environment: dict[str, str] = attrs.field(factory=lambda: dict(os.environ))
    """What they have been started with."""

    def server(self, wanted: Server) -> LaunchedServer:
        """Return a process that serves: the one that has been started, or a new one."""
        found, self._server = self._server, None
        is_same = found is not None and found[0] == wanted and self._environment == os.environ
        if found is not None and is_same and not found[1].has_died:
            return found[1]
        _end_server(found)
        return launch_server(wanted)

    def fork(
        self, server: Server, fork: Callable[[Server, Callable[[], object]], LaunchedServer]
    ) -> None:
        """Start the process that serves by ``fork``, which calls `leave` in it."""
        self._server = server, fork(server, self.leave)

    def leave(self) -> None:
        """Let go of everything, in a process that was forked from the one that has started it."""
        found, self._vite = self._vite, None
        if found is not None:
            _leave_process(found[1])

    def begin_server(self) -> None:
        """Let the process that serves import the app, if there is one; it serves when it is taken.

        The project is as its manifest says.
        """
        if self._server is None or self._environment != os.environ:
            return
        launched = self._server[1]
        assert launched.process.stdin is not None  # it is PIPE
        launched.begun = True
        with suppress(BrokenPipeError):  # it has ended, as whoever takes it learns
            launched.process.stdin.write(BEGIN)

    def keep(self, server: Server, launched: LaunchedServer) -> None:
        """Let a process serve next that has just imported the app."""
        _end_server(self._server)
        self._server, self._environment = (server, launched), dict(os.environ)

    def has(self, launched: LaunchedServer) -> bool:
        """Whether this process serves next."""
        return self._server is not None and self._server[1] is launched

    @property
    def has_begun(self) -> bool:
        """Whether the process that serves next has imported the app, or does so now."""
        return self._server is not None and self._server[1].begun

    def end_begun(self) -> None:
        """End the process that serves next, if it has begun with what was there before."""
        if self.has_begun:
            _end_server(self._server)
            self._server = None

    def vite(self, wanted: ViteSettings) -> subprocess.Popen[bytes]:
        """Return Node: the one that has been started, or a new one. Raises NodeMissing."""
        found, self._vite = self._vite, None
        if found is not None and found[0] == wanted and self._environment == os.environ:
            return found[1]
        _end_vite(found)
        return launch_vite(wanted)

    def close(self) -> None:
        """End the processes that were not taken."""
        _end_server(self._server)
        _end_vite(self._vite)
        self._server = self._vite = None


@contextmanager
def starting_ahead(
    server: Server,
    config: Config,
    early: EarlyNode | None = None,
    *,
    forks: bool = False,
) -> Iterator[Ahead]:
    """Start both processes, unless Node or the toolchain have to be installed first.

    ``early`` is Node where it has been started already. With ``forks``, `Ahead.fork` starts what
    serves.
    """
    ahead = Ahead(None if forks else (server, launch_server(server)))
    try:
        toolchain = toolchain_folder()
        if is_whole(toolchain):
            settings = ViteSettings.of(
                server.root, config, toolchain=toolchain, sockets=server.vite
            )
            with suppress(FxtrioError):  # reported when the project is prepared
                ahead._vite = settings, launch_vite(settings, early)
        if early is not None:
            early.close()  # it would stay, unused, as long as `fx dev` runs
        yield ahead
    finally:
        ahead.close()


def _leave_process(process: subprocess.Popen[bytes]) -> None:
    """Let go of it in a process whose child it is not."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()  # else its other end would never be closed
    process.returncode = 0  # there is nothing to wait for


def _end_server(found: tuple[Server, LaunchedServer] | None) -> None:
    if found is not None:
        end_launched(found[1])


def end_launched(launched: LaunchedServer) -> None:
    """End a process that nobody has taken, with what its imports have started."""
    os.close(launched.replies)
    if launched.begun:
        with suppress(ProcessLookupError):
            os.killpg(launched.process.pid, signal.SIGKILL)
    _end(launched.process)


def _end_vite(found: tuple[ViteSettings, subprocess.Popen[bytes]] | None) -> None:
    if found is not None:
        _end(found[1])


def _end(process: subprocess.Popen[bytes] | ForkedProcess) -> None:
    """End a process that has nothing to put in order."""
    process.kill()
    if isinstance(process, ForkedProcess):
        process.close()
        return
    with process:  # closes its pipes, and waits
        pass
