"""What can be set about channels and WebSockets."""

from __future__ import annotations

from typing import Literal

import attrs

from fxtrio.config import validators
from fxtrio.sizes import to_bytes


@attrs.frozen(kw_only=True)
class RealtimeConfig:
    """The ``realtime`` section: channels and WebSockets."""

    broker: str = attrs.field(default="memory", validator=validators.broker)
    """``memory``, or a URL of Redis or PostgreSQL to reach every process and machine."""

    overflow: Literal["close", "drop_oldest"] = "close"
    """What happens to a subscriber whose outbox is full: closed with 1013, or loses its oldest."""

    outbox: int = attrs.field(default=256, validator=validators.at_least(1))
    """Messages that may wait for one subscriber (count)."""

    outbox_bytes: int = attrs.field(
        default=1024**2, converter=to_bytes, validator=validators.at_least(1024)
    )
    """Bytes of messages that may wait for one subscriber, besides one more message (bytes)."""

    max_publish: int = attrs.field(
        default=64 * 1024, converter=to_bytes, validator=validators.at_least(1)
    )
    """Largest message that is published to a channel; MessageTooLarge above it (bytes)."""

    connect_timeout: float = attrs.field(default=5.0, validator=validators.positive_seconds)
    """How long the broker has to accept a connection (seconds)."""

    answer_timeout: float = attrs.field(default=5.0, validator=validators.positive_seconds)
    """How long the broker may take to answer, after which its connection is thrown away; a
    subscription that is silent for as long is checked (seconds)."""

    tcp_user_timeout: float = attrs.field(default=15.0, validator=validators.at_least(0))
    """How long what was sent to the broker may stay unacknowledged; 0: the system's (seconds)."""

    keepalive_idle: int = attrs.field(default=15, validator=validators.at_least(0))
    """Silence after which the system asks whether the broker is there; 0: its own (seconds)."""

    keepalive_interval: int = attrs.field(default=5, validator=validators.at_least(0))
    """Time between two such questions; 0: the system's (seconds)."""

    keepalive_count: int = attrs.field(default=3, validator=validators.at_least(0))
    """Questions without an answer that end a connection; 0: the system's (count)."""

    history: int = attrs.field(default=1000, validator=validators.at_least(0))
    """Messages of a channel stored for processes that were cut off, and for `subscribe`;
    `0`: none (count)."""

    max_message: int = attrs.field(
        default=1024**2, converter=to_bytes, validator=validators.at_least(1)
    )
    """Largest WebSocket message of a client; closed with 1009 above it (bytes)."""

    same_origin: bool = False
    """Whether a handler that calls neither `same_origin` nor `origin_allowed` accepts pages of
    this site alone; others are closed with 4403."""
