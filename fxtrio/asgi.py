"""What ours says in an ASGI scope beyond the standard: names that both sides agree on."""

from __future__ import annotations

RAW_FRAMES = "fx.websocket.frames"
"""Key in ``scope["extensions"]`` of servers that take frames as bytes.

Its value is ``{"send": send, "write": write}``. ``await send(data)`` writes one or
more whole unmasked frames behind everything sent before. ``write(data)`` does so
without waiting, and returns False when the next ``send`` has to finish it. Both raise
OSError once the client is gone. Valid from ``websocket.accept`` to ``websocket.close``;
not offered when the handshake agreed on an extension that changes frames, such as
compression.
"""

SAME_FOR_ALL = "fx.same-for-all"
"""Key in the scope of a request that a static file answers: its answer depends on nobody.

Whoever keeps answers for signed-in users out of caches leaves such a one alone.
"""

OWN_SERVER = "fx.server"
"""Key in ``scope["extensions"]`` of the lifespan in servers of ours, which need no guard."""
