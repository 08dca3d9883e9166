"""A worker process: ``python -m fxtrio.server.supervise.worker CONTROL SOCKET…``, all descriptors.

The control socket is connected to the supervisor. Its first line from there has the
options; end of file means that the supervisor has exited. The worker writes a line when
it is ready, when it has served its share of requests, as a heartbeat, and when the app does
not start until somebody acts.
"""

from __future__ import annotations

import signal
import sys

if __name__ == "__main__":
    # A terminal sends Ctrl-C to workers, too, which their supervisor ends: until they serve, they
    # do nothing about it. Not by SIG_IGN, which what the app starts would inherit.
    signal.signal(signal.SIGINT, lambda number, frame: None)

from contextlib import suppress
from functools import partial
from socket import MSG_DONTWAIT, socket

import trio

from fxtrio.server.supervise.garbage import collect_seldom
from fxtrio.server.supervise.listening.binding import adopt_sockets
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.server.supervise.server_process import FAILED, ParentInterface, serve_here
from fxtrio.server.supervise.worker_process import ALIVE, BEATS, READY, SPENT, start_error_line


def main(arguments: list[str]) -> int:
    """Serve as the supervisor says; return the exit code."""
    control = socket(fileno=int(arguments[0]))
    with control, control.makefile("rb") as lines:
        line = lines.readline()
        if not line:
            return FAILED  # the supervisor has exited
        options = ServeOptions.from_json(line.decode())
        around = ParentInterface(
            ready=lambda addresses: _send(control, READY),
            supervised=True,
            until=partial(_send_heartbeats, control, options.hang / BEATS),
            spent=partial(_send, control, SPENT),
            rejected=lambda reason: _send(control, start_error_line(reason)),
        )
        collect_seldom()
        return serve_here(options, adopt_sockets([int(text) for text in arguments[1:]]), around)


def _send(control: socket, line: bytes) -> None:
    with suppress(OSError):  # the supervisor has exited, which the reader notices
        control.send(line, MSG_DONTWAIT)  # a supervisor that is stopped must not stop us


async def _send_heartbeats(control: socket, beat: float) -> None:
    """Send heartbeats until the supervisor exits."""
    while True:
        with trio.move_on_after(beat):
            await trio.lowlevel.wait_readable(control)
            return
        _send(control, ALIVE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
