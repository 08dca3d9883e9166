"""What the subscribers of the benchmark notice of the frames they get."""

import socket
from collections.abc import Iterator

import pytest

from benchmarks.subscribers import Stream, WrongMessages, receive

STREAM = Stream(count=3, size=40)
PING = b"\x89\x02\x89!"
CLOSED_1013 = b"\x88\x02" + (1013).to_bytes(2, "big")


def frame(number: int) -> bytes:
    return b"\x81\x28" + b"%08d %020d " % (number, number) + b"x" * 10


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    server, client = socket.socketpair()
    with server, client:
        yield server, client


def test_all_messages_are_counted(pair):
    server, client = pair
    server.sendall(b"".join(map(frame, range(3))))
    received = receive(STREAM, [client], patience=5)
    assert received.least == 3
    assert len(received.lateness) == 3
    assert received.closed == []


def test_pings_are_answered_and_no_part_of_a_message(pair):
    server, client = pair
    server.sendall(frame(0) + PING + frame(1) + frame(2))
    assert receive(STREAM, [client], patience=5).least == 3
    assert server.recv(100) == b"\x8a\x82" + bytes(4) + b"\x89!"


def test_a_ping_in_two_pieces_is_taken_out(pair):
    server, client = pair
    server.sendall(frame(0) + PING[:2])
    assert receive(STREAM, [client], patience=0.01).least == 1
    server.sendall(PING[2:])
    client.settimeout(5)
    assert client.recv(100) == PING[2:]


def test_a_lost_message_is_an_error(pair):
    server, client = pair
    server.sendall(frame(0) + frame(2) + frame(3))
    with pytest.raises(WrongMessages, match="message 1"):
        receive(STREAM, [client], patience=5)


def test_subscribers_with_different_messages_are_an_error(pair):
    server, client = pair
    other_server, other = socket.socketpair()
    with other_server, other:
        server.sendall(b"".join(map(frame, range(3))))
        other_server.sendall(b"".join(map(frame, range(3))).replace(b"x", b"y"))
        with pytest.raises(WrongMessages, match="different"):
            receive(STREAM, [client, other], patience=5)


def test_a_subscriber_that_is_closed_counts_with_its_code(pair):
    server, client = pair
    server.sendall(frame(0) + CLOSED_1013)
    server.shutdown(socket.SHUT_WR)
    received = receive(STREAM, [client], patience=5)
    assert received.closed == [1013]
    assert received.least == 1


def test_silence_ends_the_wait(pair):
    server, client = pair
    server.sendall(frame(0))
    assert receive(STREAM, [client], patience=0.01).least == 1
