"""WebSocket helpers: channels with presence, origins, and who is signed in."""

from fxtrio.realtime import (
    Broker,
    Channel,
    ChannelEvent,
    Joined,
    Left,
    Member,
    MemoryBroker,
    Message,
    Missed,
    PresenceEvent,
    Roster,
    Subscriber,
    authenticate_websocket,
    channel,
    origin_allowed,
    publish,
)

__all__ = [
    "Broker",
    "Channel",
    "ChannelEvent",
    "Joined",
    "Left",
    "Member",
    "MemoryBroker",
    "Message",
    "Missed",
    "PresenceEvent",
    "Roster",
    "Subscriber",
    "authenticate_websocket",
    "channel",
    "origin_allowed",
    "publish",
]
