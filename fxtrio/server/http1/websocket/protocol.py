"""The frames of an open WebSocket, without I/O or a clock: bytes to messages and back.

Wraps the protocol of the `websockets` library, and adds what it leaves open: the
joining of fragments, UTF-8, and a bound on what waits to be received.
"""

from __future__ import annotations

import codecs
from collections import deque
from sys import getsizeof

from websockets.exceptions import ProtocolError
from websockets.frames import BINARY, CLOSE, CONT, PONG, TEXT, CloseCode, Frame
from websockets.protocol import CLOSED, OPEN
from websockets.server import ServerProtocol

from fxtrio.server.http1.response import BadResponse, Message

_MESSAGE_OVERHEAD = 256
"""Bytes that a message takes in memory besides its text or data."""

_LONGEST_REASON = 123


class WsProtocol:
    """One open WebSocket. ``messages`` are ready for the application, oldest first.

    After anything that can cause output, the caller sends `take_output`.
    """

    def __init__(self, protocol: ServerProtocol, backlog: int) -> None:
        self.messages: deque[Message] = deque()
        self.size = 0  # bytes in messages
        self.pongs = 0
        self._protocol = protocol
        self._backlog = backlog
        self._raw = bytearray()  # read, not yet given to the protocol
        self._rest = 0  # bytes that the frame being given still lacks
        self._part = 0  # bytes of it that were given
        self._abandoned = False
        self._held = False  # a close frame waits until the messages before it are taken
        self._close_frame: bytes | None = None  # our close frame waits for the same
        self._ended = False
        self._joined = bytearray()  # fragments of a message that is not complete
        self._decoder: codecs.IncrementalDecoder | None = None  # when it is text

    @property
    def is_open(self) -> bool:
        """Whether messages can be sent."""
        return self._protocol.state is OPEN or self._close_frame is not None

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be expected from the client."""
        return self._abandoned or self._protocol.eof_sent or self._protocol.state is CLOSED

    @property
    def is_full(self) -> bool:
        """Whether enough waits for the application."""
        return self.size >= self._backlog or self._held

    @property
    def held(self) -> int:
        """Bytes of messages that wait, and of one that is not complete."""
        return self.size + len(self._raw) + self._part + len(self._joined)

    @property
    def close(self) -> tuple[int, str]:
        """Code and reason of the end, for the application: the client's, if it sent them."""
        protocol = self._protocol
        if protocol.close_rcvd is not None and protocol.parser_exc is None:
            return int(protocol.close_rcvd.code), protocol.close_rcvd.reason
        if protocol.close_sent is not None:
            return int(protocol.close_sent.code), protocol.close_sent.reason
        return int(CloseCode.ABNORMAL_CLOSURE), ""

    def feed(self, data: bytes) -> None:
        """Take what was read. Never raises: a client that breaks the rules is closed."""
        if self._abandoned:
            return
        if not self._raw and not self._rest and _is_small_frame(data):
            self._protocol.receive_data(data)
            self._collect()
        else:
            self._raw += data
            self._parse()

    def end(self) -> None:
        """Take the end of the client's bytes."""
        self._ended = True
        self._parse()

    def next_message(self) -> Message:
        """Return the oldest message, which there must be."""
        message = self.messages.popleft()
        self.size -= getsizeof(message["text"] or message["bytes"] or b"") + _MESSAGE_OVERHEAD
        return message

    def resume(self) -> bool:
        """Go on with what was read before, now that the messages are taken.

        Return whether anything came of it.
        """
        if self._close_frame is not None and not self.messages:
            self._send_close()
            return True
        if not (self._raw or self._ended):
            return False
        before = len(self._raw), self.is_over
        self._parse()
        return before != (len(self._raw), self.is_over)

    def discard(self) -> None:
        """Forget what waits for the application."""
        self.messages.clear()
        self.size = 0
        self._send_close()
        self._parse()

    def abandon(self, code: int, reason: str) -> bytes:
        """Forget what came, take no more, and return the bytes of a close frame."""
        data = self.start_close(code, reason)
        self._abandoned, self._held = True, False
        self.messages.clear()
        self._raw.clear()
        self._joined = bytearray()
        self._protocol.reader.buffer.clear()
        self.size = self._part = self._rest = 0
        return data

    def send(self, message: Message) -> bytes:
        """Return the bytes of a ``websocket.send``."""
        data, text = message.get("bytes"), message.get("text")
        opcode = TEXT if data is None else BINARY
        if data is None:
            if not isinstance(text, str):
                raise BadResponse("websocket.send has neither bytes nor text.")
            data = text.encode()
        elif type(data) is not bytes:
            data = bytes(memoryview(data))
        if self._close_frame is not None:  # the protocol thinks that it has been said
            extensions = self._protocol.extensions
            return bytes(Frame(opcode, data).serialize(mask=False, extensions=extensions))
        if opcode is TEXT:
            self._protocol.send_text(data)
        else:
            self._protocol.send_binary(data)
        return self.take_output()

    def ping(self) -> bytes:
        """Return the bytes of a ping."""
        self._protocol.send_ping(b"fx")
        return self.take_output()

    def start_close(self, code: int, reason: str) -> bytes:
        """Return the bytes of a close frame; none when the end has begun already.

        Raises BadResponse for a code that must not be sent.
        """
        if self._close_frame is not None:
            self._send_close()
            return self.take_output()
        if not self.is_open:
            return b""
        short = reason.encode()[:_LONGEST_REASON].decode(errors="ignore")
        try:
            self._protocol.send_close(code, short)
        except ProtocolError as error:
            raise BadResponse(f"websocket.close: code {code!r}: {error}.") from None
        return self.take_output()

    def take_output(self) -> bytes:
        """Return the bytes to send now."""
        writes = self._protocol.data_to_send()
        return writes[0] if len(writes) == 1 else b"".join(writes)

    def _parse(self) -> None:
        """Give the protocol frame after frame, until enough waits to be received.

        It would answer a close frame at once, before the application could answer
        the messages in front of it: so that one waits until they are taken. What
        breaks the rules is not seen beforehand: there, what is answered waits.
        """
        raw = self._raw
        while raw and self.size < self._backlog and not self.is_over:
            if not self._rest:
                self._rest = _frame_size(raw)
                if not self._rest:
                    break
                if not _has_shortest_length(raw):
                    self._fail(CloseCode.PROTOCOL_ERROR, "not the shortest length")
                    return
                if raw[0] & 0x0F == CLOSE:
                    self._held = bool(self.messages)
                    if self._held:
                        self._rest = 0
                        return
                    self._protocol.current_size = None  # it may come inside of a message
            piece = bytes(raw[: self._rest])
            del raw[: self._rest]
            self._rest -= len(piece)
            self._part = self._part + len(piece) if self._rest else 0
            self._protocol.receive_data(piece)
            self._collect()
        if self._ended and not self.messages:
            self._protocol.receive_eof()
            self._drop_traceback()

    def _collect(self) -> None:
        for frame in self._protocol.events_received():
            assert isinstance(frame, Frame)
            opcode = frame.opcode
            try:
                if opcode is TEXT and frame.fin:
                    self._add(str(frame.data, "utf-8"), None)
                elif opcode is BINARY and frame.fin:
                    self._add(None, bytes(frame.data))
                elif opcode is PONG:
                    self.pongs += 1
                elif opcode in (TEXT, BINARY, CONT):
                    self._join(frame)
            except UnicodeDecodeError:
                if self._protocol.state is OPEN:
                    self._fail(CloseCode.INVALID_DATA, "not UTF-8")
                return
        if self._protocol.parser_exc is not None:
            self._drop_traceback()
            self._delay_close()

    def _drop_traceback(self) -> None:
        """Let go of the frames that an error of the parser was raised in: they hold the caller.

        With them the connection would hold itself, until the garbage collector comes.
        """
        error = self._protocol.parser_exc
        if error is not None:
            error.__traceback__ = error.__context__ = error.__cause__ = None

    def _fail(self, code: CloseCode, reason: str) -> None:
        self._protocol.fail(code, reason)
        self._protocol.parser_exc = ProtocolError(reason)
        self._delay_close()

    def _delay_close(self) -> None:
        if self.messages and self._close_frame is None:
            self._close_frame = self.take_output()

    def _send_close(self) -> None:
        if self._close_frame is not None:
            self._protocol.writes.insert(0, self._close_frame)
            self._close_frame = None

    def _join(self, frame: Frame) -> None:
        if frame.opcode is not CONT:
            self._decoder = (
                None if frame.opcode is BINARY else codecs.getincrementaldecoder("utf-8")()
            )
        if self._decoder is not None:
            # Decoded only to find out early that it is no text.
            self._decoder.decode(frame.data, frame.fin)
        self._joined += frame.data
        if frame.fin:
            joined, self._joined = self._joined, bytearray()
            if self._decoder is not None:
                self._add(joined.decode(), None)
            else:
                self._add(None, bytes(joined))

    def _add(self, text: str | None, data: bytes | None) -> None:
        self.messages.append({"type": "websocket.receive", "text": text, "bytes": data})
        self.size += getsizeof(text or data or b"") + _MESSAGE_OVERHEAD


def _frame_size(raw: bytearray) -> int:
    """Return the size of the frame at the beginning of ``raw``; 0 when it is not known yet."""
    if len(raw) < 2:
        return 0
    size, head = raw[1] & 0x7F, 2
    if size >= 126:
        head = 4 if size == 126 else 10
        if len(raw) < head:
            return 0
        size = int.from_bytes(raw[2:head], "big")
    return head + size + (4 if raw[1] & 0x80 else 0)


def _has_shortest_length(raw: bytearray) -> bool:
    """Return whether a frame gives its length as RFC 6455, 5.2 demands: in the shortest form."""
    size = raw[1] & 0x7F
    if size == 126:
        return raw[2] > 0 or raw[3] > 125
    return size < 126 or (raw[2] < 0x80 and any(raw[2:8]))


def _is_small_frame(data: bytes) -> bool:
    """Return whether ``data`` is one whole frame of the shortest form that is no close frame."""
    return 6 <= len(data) <= 131 and data[1] == len(data) + 0x7A and data[0] & 0x0F != CLOSE
