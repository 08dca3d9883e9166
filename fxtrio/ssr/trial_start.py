"""Starts a worker once, as a server would, and ends it: does its bundle load?"""

from __future__ import annotations

import logging
from collections import deque

import trio

from fxtrio.ssr.errors import SsrStartFailed
from fxtrio.ssr.process.launch import Launch
from fxtrio.ssr.process.logs import TAIL_LINES, LineCutter, parse_line
from fxtrio.ssr.process.node_process import open_node
from fxtrio.ssr.worker_lifecycle import EXIT_WAIT, LOG_WAIT, START_TIMEOUT, describe_exit

_READ_SIZE = 65536


async def try_start(launch: Launch) -> None:
    """Load a bundle in a process of its own, as isolated as those that render.

    What it prints is not logged. Raises SsrStartFailed when it does not load, or not within
    START_TIMEOUT; its ``log`` has the last lines that were printed.
    """
    tail: deque[str] = deque(maxlen=TAIL_LINES)

    async def read(stream: trio.abc.ReceiveStream) -> None:
        cutter = LineCutter()
        while data := await stream.receive_some(_READ_SIZE):
            tail.extend(parse_line(line, logging.INFO)[1] for line in cutter.feed(data))
        if last := cutter.rest():
            tail.append(parse_line(last, logging.INFO)[1])

    async with open_node(launch) as node:
        async with trio.open_nursery() as readers:
            for stream, _ in node.logs:
                readers.start_soon(read, stream)
            cause = f"was not ready within {START_TIMEOUT:g} s"
            with trio.move_on_after(START_TIMEOUT):
                await trio.lowlevel.wait_readable(node.socket)
                # The first byte of READY, or the end of the file.
                if node.socket.recv(1):
                    readers.cancel_scope.cancel("the bundle has loaded")
                    return
                with trio.move_on_after(EXIT_WAIT):
                    await node.wait()
                cause = describe_exit(node.returncode)
            node.kill()
            readers.cancel_scope.deadline = trio.current_time() + LOG_WAIT
    raise SsrStartFailed(launch.bundle, cause, "\n".join(tail))
