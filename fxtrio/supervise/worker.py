"""A worker process: ``python -m fxtrio.supervise.worker LIFELINE SOCKET…``, all descriptors.

The lifeline is a socket to the supervisor. Its first line from there is the
options; its end means that the supervisor is gone. The worker writes a line when
it is ready, and when its requests are used up.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from socket import socket

import trio

from fxtrio.supervise.options import ServeOptions
from fxtrio.supervise.process import Surroundings, serve_here
from fxtrio.supervise.sockets import adopt_sockets
from fxtrio.supervise.spawn import READY, SPENT


def main(arguments: list[str]) -> int:
    """Serve as the supervisor says; return the exit code."""
    lifeline = socket(fileno=int(arguments[0]))
    with lifeline, lifeline.makefile("rb") as lines:
        options = ServeOptions.from_json(lines.readline().decode())
        around = Surroundings(
            ready=lambda addresses: _tell(lifeline, READY),
            supervised=True,
            until=partial(_wait_for_end, lifeline),
            spent=partial(_tell, lifeline, SPENT),
        )
        return serve_here(options, adopt_sockets([int(text) for text in arguments[1:]]), around)


def _tell(lifeline: socket, line: bytes) -> None:
    with suppress(OSError):  # the supervisor is gone, which the reading end finds out
        lifeline.send(line)


async def _wait_for_end(lifeline: socket) -> None:
    await trio.lowlevel.wait_readable(lifeline)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
