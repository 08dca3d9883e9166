"""Channels, brokers and WebSocket helpers.

Begin with `channels` and `feeds`, the blocks that application code opens. `broker` defines
brokers and subscribers, `send_buffer` is the outbox of one subscriber, and `handler` runs
a handler.
"""

from fxtrio.realtime.broker import Broker, PresenceBroker, Subscriber
from fxtrio.realtime.channels import Channel, channel, publish
from fxtrio.realtime.feeds.feed import Event
from fxtrio.realtime.feeds.subscribe import Subscription, subscribe
from fxtrio.realtime.frames import Frame, Message
from fxtrio.realtime.handshake import (
    Authenticator,
    authenticate_websocket,
    origin_allowed,
    same_origin,
    wait_closed,
)
from fxtrio.realtime.open import open_broker
from fxtrio.realtime.presence import (
    ChannelEvent,
    Joined,
    Left,
    Member,
    Missed,
    Notice,
    PresenceEvent,
    Resumed,
    Roster,
)
from fxtrio.realtime.stores.memory import MemoryBroker
from fxtrio.realtime.subscriptions import BrokerStatistics
from fxtrio.realtime.typed_socket import WebSocket

__all__ = [
    "Authenticator",
    "Broker",
    "BrokerStatistics",
    "Channel",
    "ChannelEvent",
    "Event",
    "Frame",
    "Joined",
    "Left",
    "Member",
    "MemoryBroker",
    "Message",
    "Missed",
    "Notice",
    "PresenceBroker",
    "PresenceEvent",
    "Resumed",
    "Roster",
    "Subscriber",
    "Subscription",
    "WebSocket",
    "authenticate_websocket",
    "channel",
    "open_broker",
    "origin_allowed",
    "publish",
    "same_origin",
    "subscribe",
    "wait_closed",
]
