"""Checks the start of an HTTP/2 connection: the preface, then SETTINGS (RFC 9113, 3.4). No I/O.

h2 checks the preface, but accepts any frame after it; and it waits for a complete frame
even if its first bytes are already invalid.
"""

from __future__ import annotations

from h2.errors import ErrorCodes

from fxtrio.errors import Signal

_PREFACE = 24  # bytes; h2 compares them
_FRAME_HEAD = 9
_SETTINGS = 4
_SETTING = 6  # bytes of one


class ProtocolViolation(Signal):
    """The client violates the protocol, so the connection ends; ``code`` is the error code."""

    code: ErrorCodes


class NotHttp2(ProtocolViolation):
    """The client speaks something else."""

    code = ErrorCodes.PROTOCOL_ERROR


class PrefaceReader:
    """Judges the head of the first frame, byte by byte. ``done`` once it is the right one."""

    def __init__(self) -> None:
        self.done = False
        self._read = 0
        self._head = bytearray()

    def feed(self, data: bytes) -> None:
        """Take bytes, from the preface on. Raises NotHttp2 at the first that is wrong."""
        skipped = max(0, _PREFACE - self._read)
        self._read += len(data)
        self._head += data[skipped : skipped + _FRAME_HEAD - len(self._head)]
        if not _may_begin_settings(self._head):
            raise NotHttp2("the preface is not followed by settings")
        self.done = len(self._head) == _FRAME_HEAD


def _may_begin_settings(head: bytearray) -> bool:
    """Return whether ``head``, as much as there is, is that of settings for the connection."""
    length, kind, flags, stream = head[:3], head[3:4], head[4:5], head[5:]
    return (
        # h2 allows for frames of 16 KiB, so that the first byte of the length is 0.
        not any(length[:1])
        and (len(length) < 3 or not int.from_bytes(length) % _SETTING)
        and kind in (b"", bytes([_SETTINGS]))
        and not any(byte & 1 for byte in flags)  # no acknowledgement
        and not any(byte & (0xFF if at else 0x7F) for at, byte in enumerate(stream))
    )
