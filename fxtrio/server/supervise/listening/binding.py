"""Listening sockets from ``--bind``, or from systemd. Workers inherit them."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from fxtrio.server.supervise.listening.tcp import BindFailed, bind_tcp
from fxtrio.server.supervise.options import ServeOptions

_FIRST_SYSTEMD_FD = 3  # sd_listen_fds(3)

_NO_SOCKET = 0o111
"""Permissions that mean nothing for a socket. The others are given: whom the folder lets in
may connect, such as a proxy with a user of its own."""


class Sockets(msgspec.Struct, frozen=True):
    """Listening sockets of a process."""

    secure_sockets: list[socket.socket] = []
    """Those whose connections have TLS."""

    insecure_sockets: list[socket.socket] = []


@contextmanager
def open_sockets(options: ServeOptions) -> Iterator[list[socket.socket]]:
    """Bind every address of ``options`` and listen; at the end close them all.

    The files of unix sockets are removed then. Raises BindFailed.
    """
    sockets: list[socket.socket] = []
    files: list[tuple[Path, int]] = []
    try:
        for bind in options.bind:
            if bind == "systemd":
                sockets += _from_systemd()
            elif bind.startswith("fd://"):
                sockets.append(_from_descriptor(bind))
            elif bind.startswith("unix:"):
                sockets.append(_bind_unix(bind, options))
                path = Path(bind[5:])
                files.append((path, path.stat().st_ino))
            else:
                sockets.append(bind_tcp(bind))
        for listening in sockets:
            listening.listen(options.backlog)
            listening.setblocking(False)
        yield sockets
    finally:
        for listening in sockets:
            listening.close()
        for path, inode in files:
            with suppress(FileNotFoundError):
                if path.stat().st_ino == inode:  # not another server's by now
                    path.unlink()


def adopt_sockets(descriptors: Sequence[int]) -> list[socket.socket]:
    """Return the listening sockets that a supervisor passed on."""
    sockets = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    for listening in sockets:
        listening.setblocking(False)
    return sockets


def grouped(sockets: list[socket.socket], *, tls: bool) -> Sockets:
    """Return sockets of which all have TLS, or none."""
    return Sockets(secure_sockets=sockets) if tls else Sockets(insecure_sockets=sockets)


def _bind_unix(bind: str, options: ServeOptions) -> socket.socket:
    path = bind[5:]
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # Set before and put back at once, since it counts for the whole process.
    mask = os.umask(_NO_SOCKET | (options.umask or 0))
    try:
        _remove_stale(bind, path)
        listening.bind(path)
        if options.user is not None or options.group is not None:
            os.chown(path, _or_same(options.user), _or_same(options.group))
    except OSError as error:
        listening.close()
        raise BindFailed(bind, error.strerror or str(error)) from error
    except BindFailed:
        listening.close()
        raise
    finally:
        os.umask(mask)
    return listening


def _or_same(number: int | None) -> int:
    return -1 if number is None else number


def _remove_stale(bind: str, path: str) -> None:
    """Remove the socket file of a server that has exited."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(Path(path).stat().st_mode):
            raise BindFailed(bind, "there is a file that is not a socket")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(path)
            except ConnectionRefusedError:
                Path(path).unlink()
            else:
                raise BindFailed(bind, "another server listens there")


def _from_descriptor(bind: str) -> socket.socket:
    try:
        listening = socket.socket(fileno=int(bind[5:]))
    except ValueError as error:
        raise BindFailed(bind, "it has no number, such as 'fd://3'") from error
    except OSError as error:
        raise BindFailed(bind, error.strerror or str(error)) from error
    if listening.type != socket.SOCK_STREAM:
        raise BindFailed(bind, "it is not a stream socket")
    return listening


def _from_systemd() -> list[socket.socket]:
    count = os.environ.get("LISTEN_FDS", "")
    if os.environ.get("LISTEN_PID") != str(os.getpid()) or not count.isdigit() or count == "0":
        raise BindFailed("systemd", "this process was not started by a socket unit")
    last = _FIRST_SYSTEMD_FD + int(count)
    return [_from_descriptor(f"fd://{number}") for number in range(_FIRST_SYSTEMD_FD, last)]
