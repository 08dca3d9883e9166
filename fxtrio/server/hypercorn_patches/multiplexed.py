"""Hypercorn's HTTP/2, which has so many defects that all of it is replaced."""

from __future__ import annotations

from typing import Any

from fxtrio.server.hypercorn_patches.source import source_of

_FAULTS = (
    "await self.streams[event.stream_id].handle(\n                    Body",
    "except (h2.exceptions.StreamClosedError, KeyError, h2.exceptions.ProtocolError):",
    "self.priority.insert_stream(\n                stream_id=event.stream_id,",
    'method = value.decode("ascii").upper()',
)
"""Lines of which each is a defect by itself: without one, it is not what was examined."""


def http2_is_open() -> bool:
    """Return whether the source is the one that was examined."""
    import hypercorn.protocol

    source = source_of(getattr(hypercorn.protocol, "H2Protocol"))  # noqa: B009  # not exported
    return all(fault in source for fault in _FAULTS)


def guard_http2() -> None:
    """Put our protocol in its place."""
    import hypercorn.protocol

    from fxtrio.server.http1.hypercorn_adapter import limits_of
    from fxtrio.server.http2.protocol import GuardedProtocol

    def make(app: Any, config: Any, *others: Any) -> GuardedProtocol:
        return GuardedProtocol(app, config, *others, limits=limits_of(config))

    setattr(hypercorn.protocol, "H2Protocol", make)  # noqa: B010  # as above
