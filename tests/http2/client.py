"""An HTTP/2 client that also says what no client should."""

from __future__ import annotations

import struct
from typing import Any, Self

import attrs
import h2.config
import h2.connection
import h2.events
import h2.exceptions
import trio
from hpack import Encoder

PATIENCE = 30.0
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RESET, SETTINGS, PING, GOAWAY = 0, 1, 2, 3, 4, 6, 7
WINDOW, CONTINUATION = 8, 9
END_STREAM, END_HEADERS = 1, 4

Header = tuple[str, str]


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Return a frame as it is on the wire, valid or not."""
    return struct.pack("!I", len(payload))[1:] + struct.pack("!BBI", kind, flags, stream) + payload


def ask(path: str = "/", method: str = "GET", *more: Header, authority: str = "a") -> list[Header]:
    return [
        (":method", method),
        (":path", path),
        (":scheme", "http"),
        (":authority", authority),
        *more,
    ]


def head(headers: list[Header], stream: int = 1, *, end: bool = True) -> bytes:
    """Return a HEADERS frame with anything in it, without touching the encoder's state."""
    flags = END_HEADERS | (END_STREAM if end else 0)
    block = Encoder()
    block.header_table_size = 0
    return frame(HEADERS, flags, stream, block.encode(headers))


@attrs.define
class Answer:
    """What came on one stream."""

    status: int = 0
    headers: dict[bytes, bytes] = attrs.field(factory=dict)
    body: bytes = b""
    ended: bool = False
    reset: int | None = None
    """The code with which the server reset it."""


class Http2:
    """One connection. ``said_goodbye`` is the code of the server's GOAWAY."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        config = h2.config.H2Configuration(
            client_side=True,
            header_encoding=None,
            validate_outbound_headers=False,
            normalize_outbound_headers=False,
        )
        self.h2 = h2.connection.H2Connection(config)
        self.answers: dict[int, Answer] = {}
        self.last_stream: int | None = None
        self.settings: dict[int, int] = {}
        self.ended = False
        self.pongs = 0
        self._unread = bytearray()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await trio.aclose_forcefully(self.stream)

    async def begin(self, *, window: int | None = None, wide: bool = True) -> Self:
        """Send the preface; ``window`` is what each stream may be sent at first."""
        if window is not None:
            self.h2.local_settings.initial_window_size = window
            self.h2.local_settings.acknowledge()
        self.h2.initiate_connection()
        if wide:
            self.h2.increment_flow_control_window(2**30)
        await self.flush()
        return self

    async def flush(self) -> None:
        await self.raw(self.h2.data_to_send())

    async def raw(self, *frames: bytes) -> None:
        """Send bytes of the test's own; nothing once the server has had enough."""
        try:
            await self.stream.send_all(b"".join(frames))
        except trio.BrokenResourceError:
            self.ended = True

    async def ask(
        self, path: str = "/", method: str = "GET", *more: Header, end: bool = True
    ) -> int:
        """Send a request and return the number of its stream."""
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream, ask(path, method, *more), end_stream=end)
        await self.flush()
        return stream

    async def get(self, path: str = "/") -> Answer:
        return await self.answer(await self.ask(path))

    async def answer(self, stream: int, *, acknowledge: bool = True) -> Answer:
        """Read until the answer to ``stream`` is over, in whichever way."""
        with trio.fail_after(PATIENCE):
            while True:
                found = self.answers.setdefault(stream, Answer())
                if found.ended or found.reset is not None or self.ended:
                    return found
                await self.read(acknowledge=acknowledge)

    async def wait_goodbye(self) -> int | None:
        """Read to the end of the connection; return the code of GOAWAY, None without one."""
        with trio.fail_after(PATIENCE):
            while not self.ended:
                await self.read()
            await self.read()  # what was sent before the server closed can still be read
        return self.last_stream

    async def read(self, *, acknowledge: bool = True) -> None:
        """Read once."""
        try:
            data = await self.stream.receive_some(65536)
        except trio.BrokenResourceError:
            data = b""
        if not data:
            self.ended = True
            return
        for event in self.h2.receive_data(self._without_goodbye(bytes(data))):
            self._note(event, acknowledge)
        await self.flush()

    def _without_goodbye(self, data: bytes) -> bytes:
        """Return whole frames without GOAWAY, after which h2 takes no more answers."""
        self._unread += data
        rest = b""
        while len(self._unread) >= 9:
            size = 9 + int.from_bytes(self._unread[:3])
            if len(self._unread) < size:
                break
            if self._unread[3] == GOAWAY:
                self.last_stream = int.from_bytes(self._unread[13:17])
            else:
                rest += self._unread[:size]
            del self._unread[:size]
        return rest

    def _note(self, event: Any, acknowledge: bool) -> None:
        answer = self.answers.setdefault(getattr(event, "stream_id", None) or 0, Answer())
        match event:
            case h2.events.ResponseReceived():
                answer.headers = dict(event.headers)
                answer.status = int(answer.headers.pop(b":status"))
            case h2.events.DataReceived():
                answer.body += event.data
                if acknowledge:
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case h2.events.StreamEnded():
                answer.ended = True
            case h2.events.StreamReset():
                answer.reset = int(event.error_code)
            case h2.events.RemoteSettingsChanged():
                for code, change in event.changed_settings.items():
                    self.settings[int(code)] = change.new_value
            case h2.events.PingAckReceived():
                self.pongs += 1
