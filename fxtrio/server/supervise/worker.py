"""A worker process: ``python -m fxtrio.server.supervise.worker CONTROL SOCKET…``, all descriptors.

The control socket leads to the supervisor. Its first line from there is the
options; its end means that the supervisor is gone. The worker writes a line when
it is ready, when its requests are used up, and every few seconds as a sign of life.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from socket import MSG_DONTWAIT, socket

import trio

from fxtrio.server.supervise.binding import adopt_sockets
from fxtrio.server.supervise.options import ServeOptions
from fxtrio.server.supervise.server_process import Surroundings, serve_here
from fxtrio.server.supervise.worker_process import ALIVE, BEATS, READY, SPENT


def main(arguments: list[str]) -> int:
    """Serve as the supervisor says; return the exit code."""
    control = socket(fileno=int(arguments[0]))
    with control, control.makefile("rb") as lines:
        options = ServeOptions.from_json(lines.readline().decode())
        around = Surroundings(
            ready=lambda addresses: _tell(control, READY),
            supervised=True,
            until=partial(_wait_for_end, control, options.hang / BEATS),
            spent=partial(_tell, control, SPENT),
        )
        return serve_here(options, adopt_sockets([int(text) for text in arguments[1:]]), around)


def _tell(control: socket, line: bytes) -> None:
    with suppress(OSError):  # the supervisor is gone, which the reading end finds out
        control.send(line, MSG_DONTWAIT)  # a supervisor that is stopped must not stop us


async def _wait_for_end(control: socket, beat: float) -> None:
    """Give signs of life until the supervisor is gone."""
    while True:
        with trio.move_on_after(beat):
            await trio.lowlevel.wait_readable(control)
            return
        _tell(control, ALIVE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
