"""The socket that `fx dev` listens on."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from fxtrio.server.supervise.listening.tcp import BindFailed, bind_tcp

_MOST_TRIED = 20  # ports in a row; then something else is wrong
_LAST_PORT = 65535
_BACKLOG = 100  # browsers that wait for the server process


@contextmanager
def open_listener(host: str, port: int) -> Iterator[socket.socket]:
    """Listen on ``host`` (as URLs have it) at ``port``, or at the next port that is free.

    Port 0 stands for any. Raises BindFailed.
    """
    for tried in range(port, min(port + _MOST_TRIED, _LAST_PORT + 1)):
        try:
            listener = bind_tcp(f"{host}:{tried}")
        except BindFailed as error:
            cause = error.__cause__
            is_taken = isinstance(cause, OSError) and cause.errno == errno.EADDRINUSE
            if not is_taken or tried == min(port + _MOST_TRIED - 1, _LAST_PORT):
                raise
        else:
            break
    with listener:
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        yield listener
