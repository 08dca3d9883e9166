"""A process that has imported what reads types, and makes another of itself for each order.

So the project is imported anew each time, and fxtrio once. It reads frames from standard input,
each a length and a pickled `TypesOrder`, and writes one for each: see `HEAD`. It ends with its
standard input, and so does what it has begun.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import struct
import sys
import tempfile
from typing import IO

LENGTH = struct.Struct("<Q")
"""Of an order (bytes)."""

HEAD = struct.Struct("<iQQ")
"""Exit code, bytes of the answer, and bytes of what the project has printed; these follow."""

MOST_PRINTED = 4000
"""Bytes of what the project has printed that are passed on: the last."""


def serve_orders() -> None:
    """Answer orders until standard input ends."""
    # Imported before the first order, so that each process made of this one has them.
    import trio  # noqa: F401  # which all projects import

    from fxtrio.tools.types.gather import gatherer_child

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    gc.freeze()
    while len(head := sys.stdin.buffer.read(LENGTH.size)) == LENGTH.size:
        (size,) = LENGTH.unpack(head)
        order: gatherer_child.TypesOrder = pickle.loads(sys.stdin.buffer.read(size))
        receiving, telling = os.pipe()
        with tempfile.TemporaryFile() as printed:
            child = os.fork()
            if child == 0:
                answers.close()
                os.close(receiving)
                os.dup2(printed.fileno(), 2)
                gatherer_child.write_types(order, telling)
            os.close(telling)
            answer = _read_all(receiving, child)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            text = _tail(printed)
        answers.write(HEAD.pack(code, len(answer), len(text)) + answer + text)
        answers.flush()


def _read_all(receiving: int, child: int) -> bytes:
    """Return what ``child`` answers. When nobody waits for it any more, both processes end."""
    poll = select.poll()
    poll.register(receiving, select.POLLIN)
    poll.register(0, 0)  # its end alone
    answer = bytearray()
    while True:
        events = dict(poll.poll())
        if events.get(0, 0) & (select.POLLHUP | select.POLLERR):
            os.kill(child, 9)
            os._exit(0)
        if receiving in events:
            data = os.read(receiving, 1 << 20)
            if not data:
                os.close(receiving)
                return bytes(answer)
            answer += data


def _tail(printed: IO[bytes]) -> bytes:
    size = printed.seek(0, os.SEEK_END)
    printed.seek(max(0, size - MOST_PRINTED))
    return printed.read()


def main() -> None:
    """Run the process. No garbage is collected: those that answer end with their answer."""
    gc.disable()
    serve_orders()


if __name__ == "__main__":
    main()
