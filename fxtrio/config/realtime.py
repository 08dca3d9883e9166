"""What can be set about channels and WebSockets."""

from __future__ import annotations

from typing import Annotated, Literal

from fxtrio.config import validators
from fxtrio.config.section import Read, Section
from fxtrio.sizes import to_bytes


class RealtimeConfig(Section, frozen=True, kw_only=True):
    """The ``realtime`` section: channels and WebSockets."""

    broker: Annotated[str, validators.broker] = "memory"
    """``memory``, or a URL of Redis or PostgreSQL to reach every process and machine."""

    overflow: Literal["close", "drop_oldest"] = "close"
    """What happens to a subscriber whose outbox is full: closed with 1013, or loses its oldest."""

    outbox: Annotated[int, validators.at_least(1)] = 256
    """Messages that may wait for one subscriber (count)."""

    outbox_bytes: Annotated[int, Read(to_bytes), validators.at_least(1024)] = 1024**2
    """Bytes of messages that may wait for one subscriber, besides one more message (bytes)."""

    max_publish: Annotated[int, Read(to_bytes), validators.at_least(1)] = 64 * 1024
    """Largest message that is published to a channel; MessageTooLarge above it (bytes)."""

    connect_timeout: Annotated[float, validators.positive_seconds] = 5.0
    """How long the broker has to accept a connection (seconds)."""

    answer_timeout: Annotated[float, validators.positive_seconds] = 5.0
    """How long the broker may take to answer, after which its connection is thrown away; a
    subscription that is silent for as long is checked (seconds)."""

    tcp_user_timeout: Annotated[float, validators.at_least(0)] = 15.0
    """How long what was sent to the broker may stay unacknowledged; 0: the system's (seconds)."""

    keepalive_idle: Annotated[int, validators.at_least(0)] = 15
    """Silence after which the system asks whether the broker is there; 0: its own (seconds)."""

    keepalive_interval: Annotated[int, validators.at_least(0)] = 5
    """Time between two such questions; 0: the system's (seconds)."""

    keepalive_count: Annotated[int, validators.at_least(0)] = 3
    """Questions without an answer that end a connection; 0: the system's (count)."""

    history: Annotated[int, validators.at_least(0)] = 1000
    """Messages of a channel stored for processes that were cut off, and for `subscribe`;
    `0`: none (count)."""

    max_message: Annotated[int, Read(to_bytes), validators.at_least(1)] = 1024**2
    """Largest WebSocket message of a client; closed with 1009 above it (bytes)."""

    same_origin: bool = False
    """Whether a handler that calls neither `same_origin` nor `origin_allowed` accepts pages of
    this site alone; others are closed with 4403."""
