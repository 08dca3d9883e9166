"""The wire format of messages and presence between processes. No I/O.

The first byte is the type: ``t`` a text message, ``o`` one in JSON and ``b`` a
binary one, as in the frame; ``j`` and ``l`` the member that joined or left, as the JSON
array ``[epoch, id, info]``; ``h`` and ``e`` the epoch that has begun or ended. An epoch is
one connection of one process to the broker, named by its
`fxtrio.process_identity`: members of an ended epoch have left.
"""

from __future__ import annotations

from typing import Any

import msgspec

from fxtrio.errors import PlacedError
from fxtrio.process_identity import is_identity
from fxtrio.realtime.frames import Frame
from fxtrio.realtime.presence import Member


class BrokerMessageUnreadable(PlacedError):
    """Something else than fxtrio publishes to the broker's channels."""

    remedy = "Publish through 'app.state.fx_broker', or give the app a separate prefix"

    def __init__(self, data: bytes) -> None:
        super().__init__("broker", f"{data[:40]!r} is not a message of fxtrio")
        self.data = data


class RemoteMember(msgspec.Struct, frozen=True):
    """A member of any process."""

    epoch: str
    member: Member


class News(msgspec.Struct, frozen=True):
    """A member joined, or left."""

    joined: bool
    who: RemoteMember


class EpochNews(msgspec.Struct, frozen=True):
    """An epoch has begun, or ended."""

    begun: bool
    epoch: str


class _Wire(msgspec.Struct, array_like=True):
    epoch: str
    id: str
    info: Any


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Wire).decode


def pack(message: Frame | News | EpochNews) -> bytes:
    """Return the bytes of a message or of news."""
    if isinstance(message, Frame):
        return (b"b" if message.binary else b"o" if message.json else b"t") + message.payload
    if isinstance(message, EpochNews):
        return (b"h" if message.begun else b"e") + message.epoch.encode()
    return (b"j" if message.joined else b"l") + pack_member(message.who)


def unpack(data: bytes) -> Frame | News | EpochNews:
    """Decode the result of `pack`.

    Raises BrokerMessageUnreadable for other data.
    """
    kind, rest = data[:1], data[1:]
    if kind in (b"t", b"o"):
        try:
            rest.decode()
        except UnicodeDecodeError as error:
            raise BrokerMessageUnreadable(data) from error
        return Frame(rest, binary=False, json=kind == b"o")
    if kind == b"b":
        return Frame(rest, binary=True)
    if kind in (b"j", b"l"):
        return News(kind == b"j", unpack_member(rest))
    if kind in (b"h", b"e") and is_identity(epoch := rest.decode("ascii", "replace")):
        return EpochNews(kind == b"h", epoch)
    raise BrokerMessageUnreadable(data)


def pack_member(who: RemoteMember) -> bytes:
    """Return a member as JSON."""
    return _encode(_Wire(who.epoch, who.member.id, who.member.info))


def unpack_member(data: bytes) -> RemoteMember:
    """Decode the result of `pack_member`. Raises BrokerMessageUnreadable."""
    try:
        wire = _decode(data)
    except msgspec.MsgspecError as error:
        raise BrokerMessageUnreadable(data) from error
    return RemoteMember(wire.epoch, Member(wire.id, wire.info))
