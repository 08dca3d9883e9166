"""What clients of HTTP/2 may do to requests that are taken, and applications to clients.

An attack returns the events that applications must have recorded afterwards; prefixes suffice.
"""

from __future__ import annotations

import struct

import h2.events
import trio

from ..http1 import frames as websocket
from .client import (
    DATA,
    END_STREAM,
    GOAWAY,
    PATIENCE,
    Http2,
    ask,
    frame,
    head,
)
from .servers import Target

REFUSED = 7  # REFUSED_STREAM


async def closed_windows(server: Target) -> list[str]:
    """Clients that give no room for an answer, and stay.

    Three applications run at once for a client without a window. When they are cut off, the
    other two take their places: all five make an answer. Of larger ones the budget of the
    process would be full, with what other attacks leave unread, and the last two be refused
    or not, as it comes.
    """
    async with await server.http2() as client:
        await client.begin(window=0)
        streams = [await client.ask("/much") for _ in range(5)]
        for stream in streams:
            assert (await client.answer(stream)).reset is not None
    return ["sent"] * 5


async def unread(server: Target) -> list[str]:
    """A client that gives all the room there is and reads nothing."""
    async with await server.http2() as client:
        await client.begin(window=2**31 - 1)
        await client.ask("/big")
        await trio.sleep(1.2)
    return ["sent"]


async def leaves_while_it_is_sent_to(server: Target) -> list[str]:
    for path in ("/endless", "/big"):
        async with await server.http2() as client:
            await client.begin()
            await client.ask(path)
            for _ in range(3):
                await client.read()
    return ["stopped", "sent"]


async def resets_while_it_is_sent_to(server: Target) -> list[str]:
    async with await server.http2() as client:
        await client.begin()
        stream = await client.ask("/endless")
        while not client.answers.get(stream):
            await client.read()
        client.h2.reset_stream(stream)
        await client.flush()
        assert (await client.get()).body == b"fine"
        assert await has_noted(server, "stopped")
    return []


async def leaves_while_it_is_waited_for(server: Target) -> list[str]:
    async with await server.http2() as client:
        await client.begin()
        for path in ("/leaving", "/asking"):
            await client.ask(path)
        await client.ask("/length", "POST", end=False)
        await client.get()
    return ["left", "asked", "left in the body"]


async def resets_while_it_is_waited_for(server: Target) -> list[str]:
    async with await server.http2() as client:
        await client.begin()
        streams = [await client.ask(path) for path in ("/leaving", "/asking")]
        streams.append(await client.ask("/length", "POST", end=False))
        await client.get()
        for stream in streams:
            client.h2.reset_stream(stream)
        await client.flush()
        assert (await client.get()).body == b"fine"
        assert await has_noted(server, "left", "asked", "left in the body")
    return []


async def has_noted(server: Target, *wanted: str) -> bool:
    """Wait until applications have recorded all of these events, and no others."""
    seen: list[str] = []
    with trio.move_on_after(PATIENCE):
        while len(seen) < len(wanted):
            seen += (await server.state())["events"]
            await trio.sleep(0.02)
    return sorted(seen) == sorted(wanted)


async def goodbye_within_a_request(server: Target) -> list[str]:
    async with await server.http2() as client:
        await client.begin()
        await client.ask("/leaving")
        await client.get()
        await client.raw(frame(GOAWAY, 0, 0, bytes(8)))
        await client.wait_goodbye()
    return ["left"]


async def unread_bodies(server: Target) -> None:
    """An application that answers without reading what it was sent, in many pieces."""
    async with await server.http2() as client:
        await client.begin()
        for _ in range(3):
            stream = await client.ask("/deaf", "POST", end=False)
            for _ in range(30):
                client.h2.send_data(stream, b"*" * 1000)
            await client.flush()
            answer = await client.answer(stream)
            assert answer.body == b"unread"
            assert answer.ended
        assert (await client.get()).body == b"fine"


async def body_after_the_answer(server: Target) -> None:
    async with await server.http2() as client:
        await client.begin()
        stream = await client.ask("/", "POST", end=False)
        assert (await client.answer(stream)).body == b"fine"
        for number in range(20):
            await client.raw(frame(DATA, END_STREAM if number == 19 else 0, stream, b"*" * 100))
        assert (await client.get()).body == b"fine"


async def large_bodies(server: Target) -> None:
    async with await server.http2() as client:
        await client.begin()
        stream = await client.ask("/length", "POST", end=False)
        await upload(client, stream, 150_000, end=True)
        assert (await client.answer(stream)).body == b"150000"
        stream = await client.ask("/length", "POST", end=False)
        await upload(client, stream, 300_000, end=True)
        assert (await client.answer(stream)).status == 413
        assert (await client.get()).body == b"fine"


async def upload(client: Http2, stream: int, size: int, *, end: bool) -> None:
    while size:
        with trio.fail_after(PATIENCE):
            while not client.h2.local_flow_control_window(stream):
                await client.read()
                if client.answers.get(stream) and client.answers[stream].ended:
                    return
        room = min(client.h2.local_flow_control_window(stream), 16384, size)
        size -= room
        client.h2.send_data(stream, b"*" * room, end_stream=end and not size)
        await client.flush()


async def slow_bodies(server: Target) -> None:
    """Bodies that never end, on a connection whose pings keep it alive."""
    async with await server.http2() as client:
        await client.begin()
        streams = [await client.ask("/length", "POST", end=False) for _ in range(20)]
        for stream in streams:
            assert (await client.answer(stream)).status == 408
        assert (await client.get()).body == b"fine"


async def mismatched_length(server: Target) -> None:
    async with await server.http2() as client:
        await client.begin()
        stream = await client.ask("/length", "POST", ("content-length", "5"), end=False)
        await client.raw(frame(DATA, END_STREAM, stream, b"123456789"))
        await client.wait_goodbye()


async def thousand_streams(server: Target) -> None:
    """More at once than was agreed on."""
    async with await server.http2() as client:
        await client.begin()
        try:
            for number in range(1, 2001, 2):
                await client.raw(head(ask("/length", "POST"), number, end=False))
            await client.wait_goodbye()
        except trio.BrokenResourceError:
            pass


async def thousand_requests(server: Target) -> None:
    """As many as a connection may have, a hundred at once, and all that were taken answered."""
    done = 0
    while done < 1000:
        async with await server.http2() as client:
            await client.begin()
            while client.last_stream is None and done < 1000:
                streams = []
                for _ in range(100):
                    try:
                        streams.append(await client.ask())
                    except h2.exceptions.ProtocolError:
                        break
                for stream in streams:
                    answer = await client.answer(stream)
                    if answer.reset != REFUSED:
                        assert answer.body == b"fine", answer
                        done += 1


async def failing_applications(server: Target) -> None:
    async with await server.http2() as client:
        await client.begin()
        for path in ("/raises", "/says-nothing", "/wrong-message"):
            answer = await client.get(path)
            assert (answer.status, answer.ended) == (500, True), path
        answer = await client.get("/raises-late")
        assert (answer.status, answer.reset) == (200, 2)
        answer = await client.get("/connection-header")
        assert (answer.status, answer.headers.get(b"x-upper")) == (200, b"1")
        answer = await client.get("/wrong-header")
        assert b"b" not in answer.headers
        assert answer.reset is not None or answer.status == 500
        assert (await client.get()).body == b"fine"


async def open_websocket(client: Http2, path: str, *, status: int = 200) -> int:
    stream = client.h2.get_next_available_stream_id()
    headers = [
        (":method", "CONNECT"),
        (":protocol", "websocket"),
        *ask(path)[1:],
        ("sec-websocket-version", "13"),
    ]
    client.h2.send_headers(stream, headers)
    await client.flush()
    with trio.fail_after(PATIENCE):
        while not (client.answers.get(stream) and client.answers[stream].status):
            await client.read()
    assert client.answers[stream].status == status
    return stream


async def websockets(server: Target) -> list[str]:
    async with await server.http2() as client:
        await client.begin()
        stream = await open_websocket(client, "/echo")
        for number in range(50):
            client.h2.send_data(stream, websocket.frame(websocket.TEXT, b"%d" % number))
            client.h2.send_data(stream, websocket.frame(websocket.PING, b"?"))
        await client.flush()
        with trio.fail_after(PATIENCE):
            while b"49" not in client.answers[stream].body:
                await client.read()
        client.h2.send_data(stream, websocket.close_frame(4003, b"why"))
        await client.flush()
        answer = await client.answer(stream)
        assert answer.ended
        assert struct.pack("!H", 4003) in answer.body
        assert (await client.get()).body == b"fine"
    return ["closed 4003"]


async def messages_behind_a_rejection(server: Target) -> None:
    """A WebSocket that is refused, with words for which its client gives no room."""
    async with await server.http2() as client:
        await client.begin(window=0)
        stream = await open_websocket(client, "/refusing", status=401)
        for _ in range(3):
            client.h2.send_data(stream, websocket.frame(websocket.TEXT, b"x"))
            await client.flush()
        client.h2.increment_flow_control_window(100, stream)
        await client.flush()
        assert (await client.answer(stream)).body == b"no"


async def websockets_left(server: Target) -> list[str]:
    async with await server.http2() as client:
        await client.begin()
        for path in ("/echo", "/talks", "/silent"):
            await open_websocket(client, path)
    async with await server.http2() as client:
        await client.begin()
        for path in ("/echo", "/talks"):
            client.h2.reset_stream(await open_websocket(client, path))
        await client.flush()
        assert (await client.get()).body == b"fine"
    return ["closed 1006"] * 3 + ["stopped"] * 2


async def websockets_with_garbage(server: Target) -> list[str]:
    wanted = []
    for sent in (
        b"\xff" * 100,
        websocket.frame(websocket.TEXT, b"x", masked=False),
        websocket.frame(websocket.TEXT, b"\xff\xfe"),
        websocket.close_frame(1) + websocket.frame(websocket.TEXT, b"after"),
        websocket.frame(websocket.TEXT, b"x", fin=False) * 3,
    ):
        async with await server.http2() as client:
            await client.begin()
            stream = await open_websocket(client, "/echo")
            client.h2.send_data(stream, sent)
            client.h2.send_data(stream, websocket.frame(websocket.TEXT, b"more"))
            await client.flush()
            answer = await client.answer(stream)
            assert answer.ended or answer.reset is not None
            assert (await client.get()).body == b"fine"
        wanted.append("closed")
    return wanted


async def large_messages(server: Target) -> list[str]:
    """A WebSocket message without an end."""
    async with await server.http2() as client:
        await client.begin()
        stream = await open_websocket(client, "/echo")
        answer = client.answers[stream]
        opcode = websocket.TEXT
        with trio.fail_after(PATIENCE):
            while not answer.ended:
                if client.h2.local_flow_control_window(stream) < 16384:
                    await client.read()
                    continue
                client.h2.send_data(stream, websocket.frame(opcode, b"*" * 10_000, fin=False))
                opcode = websocket.CONT
                await client.flush()
        assert struct.pack("!H", 1009) in answer.body
        assert (await client.get()).body == b"fine"
    return ["closed"]


async def unread_pongs(server: Target) -> list[str]:
    """Pings on a WebSocket whose client gives no room for the answers."""
    async with await server.http2() as client:
        await client.begin(window=0, wide=False)
        stream = await open_websocket(client, "/silent")
        ping = websocket.frame(websocket.PING, b"*" * 100)
        with trio.move_on_after(1.5):
            try:
                for _ in range(2000):
                    while client.h2.local_flow_control_window(stream) < 200:
                        await client.read()
                    client.h2.send_data(stream, ping)
                    await client.flush()
            except (h2.exceptions.ProtocolError, trio.BrokenResourceError):
                pass
    return ["closed"]
