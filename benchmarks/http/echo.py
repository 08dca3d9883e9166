"""WebSocket echoes over many connections: one message under way on each. No library, no task.

``python -m benchmarks.http.echo PORT CONNECTIONS SECONDS`` prints how many came back.
"""

from __future__ import annotations

import select
import socket
import sys
import time

_UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: c2l4dGVlbiBieXRlcyBvaw==\r\n\r\n"
)
_TEXT = b"0123456789abcdef"
_MESSAGE = bytes([0x81, 0x80 | len(_TEXT)]) + bytes(4) + _TEXT  # masked with zeros
_ANSWER = bytes([0x81, len(_TEXT)]) + _TEXT


def run(port: int, connections: int, seconds: float) -> int:
    """Echo for ``seconds``; return the number of answers. Raises ValueError for a wrong one."""
    sockets = {}
    ready = select.epoll()
    for _ in range(connections):
        client = socket.create_connection(("127.0.0.1", port))
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.sendall(_UPGRADE)
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(1)
        if b" 101 " not in head:
            raise ValueError(f"no WebSocket: {head!r}")
        sockets[client.fileno()] = client
        ready.register(client.fileno(), select.EPOLLIN)
    for client in sockets.values():
        client.sendall(_MESSAGE)
    count = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for number, _ in ready.poll(1):
            client = sockets[number]
            answer = client.recv(4096)
            if answer != _ANSWER:
                raise ValueError(f"a wrong answer: {answer!r}")
            client.sendall(_MESSAGE)
            count += 1
    for client in sockets.values():
        client.close()
    return count


if __name__ == "__main__":
    print(run(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
