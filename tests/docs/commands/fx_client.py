"""A program of a reader's terminal: asks the process of pytest to fork it (`fx_server.py`).

``python -IS fx_client.py SOCKET -m fxtrio ARGUMENTS…``. It imports nothing that is slow, passes its
standard streams on, and ends as `fx` does; signals that it gets go to `fx`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys


def main(path: str, *arguments: str) -> int:
    """Return the exit code of the program."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.connect(path)
        here = os.getcwd()  # noqa: PTH109 # pathlib takes longer to import than all of this
        order = {"arguments": arguments, "cwd": here, "env": dict(os.environ)}
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: server.send(str(number).encode()) and None)
        socket.send_fds(server, [json.dumps(order).encode()], [0, 1, 2])
        code = int(server.recv(32))
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
