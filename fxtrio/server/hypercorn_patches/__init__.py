"""Mends Hypercorn's own trio worker while an application of ours runs in it.

Takes nothing, changes classes of Hypercorn 0.18, and returns which defects it closed.
Called by `create_app`, so that ``hypercorn --worker-class trio app:app`` is safe, and by
`fx serve` for the HTTP/2 connections that it leaves to Hypercorn.

Each `Patch` says what goes wrong without it, in which releases, and which methods it replaces.
It recognises the defect in Hypercorn's source: where that has changed, upstream has answered
it, and the patch stays off.

Methods are replaced because Hypercorn offers no other way: its worker makes `TCPServer`,
`ProtocolWrapper` and the streams by their names, and its `Config` has no setting for a
deadline of writes, for extensions of WebSockets or for HTTP/2 without TLS. Subclasses would be
made by nobody.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

import attrs

from fxtrio.server.hypercorn_patches import connections, heads, websockets

_log = logging.getLogger("fx.server")

_MARK = "__fx_guard__"


@attrs.frozen
class Patch:
    """A way around one defect."""

    defect: str
    """What goes wrong without it, and where upstream knows of it."""

    present: Callable[[], bool]
    """Whether the installed source still has it."""

    apply: Callable[[], None]

    replaces: tuple[str, ...]
    """What it replaces in Hypercorn, as ``module:qualified name``."""

    releases: tuple[str, ...] = ("0.18.",)
    """How the releases begin in which the defect was examined. In others the patch stays off."""


def install_guard() -> tuple[str, ...]:
    """Close the known defects of Hypercorn's trio worker; return the names of those closed.

    Does nothing in a process in which Hypercorn's trio worker is not loaded, and
    nothing the second time.
    """
    server = sys.modules.get("hypercorn.trio.tcp_server")
    if server is None:
        return ()
    done: tuple[str, ...] | None = getattr(server, _MARK, None)
    if done is not None:
        return done
    # Heavy, and only needed beside Hypercorn.
    from importlib.metadata import version

    installed = version("hypercorn")
    known = {name: patch for name, patch in PATCHES.items() if installed.startswith(patch.releases)}
    if not known:
        _log.info("fxtrio does not know Hypercorn %s, and does not patch it", installed)
        return ()
    closed = []
    for name, patch in known.items():
        if patch.present():
            patch.apply()
            closed.append(name)
    setattr(server, _MARK, tuple(closed))
    return tuple(closed)


PATCHES = {
    "errors": Patch(
        "an exception in one connection ends every worker, with exit code 0 "
        "(pgjones/hypercorn issues 225 and 177)",
        connections.errors_escape,
        connections.contain_errors,
        ("hypercorn.trio.tcp_server:TCPServer.run",),
    ),
    "stalled": Patch(
        "a client that does not read makes the worker deaf to SIGTERM: "
        "sends are shielded and have no deadline",
        connections.sends_are_endless,
        connections.bound_sends,
        ("hypercorn.trio.tcp_server:TCPServer.protocol_send",),
    ),
    "idle": Patch(
        "a connection that its client has closed stays open for the keep-alive time",
        connections.idle_stays,
        connections.end_idle,
        ("hypercorn.trio.tcp_server:TCPServer._read_data",),
    ),
    "requests left behind": Patch(
        "a connection whose client leaves while a further request waits for its turn stays open "
        "forever: a thousand of them, at a hundred bytes each, take all descriptors",
        connections.reading_waits_for_ever,
        connections.end_reading,
        ("hypercorn.protocol.h11:H11Protocol.handle",),
    ),
    "disconnected": Patch(
        "is_disconnected() never turns true on trio (pgjones/hypercorn issue 210), and an "
        "application that does not read its body holds its connection forever",
        connections.disconnect_is_hidden,
        connections.show_disconnect,
        ("hypercorn.trio.task_group:TaskGroup.spawn_app",),
    ),
    "long message": Patch(
        "a WebSocket message above the limit is buffered, and grows while the client sends",
        websockets.long_messages_grow,
        websockets.end_long_messages,
        ("hypercorn.protocol.ws_stream:WSStream._handle_events",),
    ),
    "compressed messages": Patch(
        "18 MB of compressed WebSocket messages take 6 GB of memory and stop the event loop "
        "for 24 s: they are inflated without a limit",
        websockets.messages_are_inflated,
        websockets.decline_compression,
        ("hypercorn.protocol.ws_stream:Handshake.accept",),
    ),
    "close code": Patch(
        "a WebSocket's close code reaches the application as 1006 (pgjones/hypercorn issue 127)",
        websockets.close_code_is_lost,
        websockets.keep_close_code,
        (
            "hypercorn.protocol.ws_stream:WSStream._handle_events",
            "hypercorn.protocol.ws_stream:WSStream.handle",
        ),
    ),
    "early frames": Patch(
        "frames that come before a WebSocket is accepted are answered beside the application's "
        "own answer: a traceback for each such client, and a handler that waits forever",
        websockets.early_frames_are_answered,
        websockets.reject_early_frames,
        ("hypercorn.protocol.ws_stream:WSStream.handle",),
    ),
    "send loop": Patch(
        "a handler that only sends freezes the worker once its client has left: "
        "sends after the end return at once, without an error",
        websockets.sends_go_nowhere,
        websockets.reject_sends,
        ("hypercorn.protocol.ws_stream:WSStream.app_send",),
    ),
    "clock": Patch(
        "the access log shows negative times when the clock is set back",
        connections.durations_go_back,
        connections.measure_durations,
        (
            "hypercorn.protocol.http_stream:time",
            "hypercorn.protocol.ws_stream:time",
        ),
    ),
    "repeated fields": Patch(
        "two Origin, Sec-Fetch-Site or Authorization lines reach the application, which "
        "believes the first of them where a proxy may have judged the last",
        heads.fields_repeat,
        heads.reject_repeated_fields,
        ("hypercorn.protocol.h11:H11Protocol._create_stream",),
    ),
    "upgrade": Patch(
        "an offer of h2c is taken up, so that a client gets past the rules of a proxy that "
        "passes it on (RFC 9113 has dropped it)",
        heads.upgrade_is_taken,
        heads.ignore_upgrade,
        ("hypercorn.protocol.h11:H11Protocol._check_protocol",),
    ),
    "prior knowledge": Patch(
        "any client without TLS may speak HTTP/2, so that what a proxy passes on as bytes gets "
        "past its rules",
        heads.prior_knowledge_is_taken,
        heads.reject_prior_knowledge,
        ("hypercorn.protocol.h11:H11Protocol._handle_events",),
    ),
    "unread bodies": Patch(
        "a response to a request whose body is not read through ends the connection "
        "without 'Connection: close', and a client that keeps connections loses its next request",
        heads.end_is_unannounced,
        heads.announce_end,
        ("hypercorn.protocol.h11:H11Protocol.stream_send",),
    ),
    "http2": Patch(
        "one HTTP/2 client ends, freezes or fills the worker: bytes of a request that is "
        "answered already, resets in a row, closed windows, floods of frames, priorities",
        connections.http2_is_open,
        connections.guard_http2,
        ("hypercorn.protocol:H2Protocol",),
    ),
}
"""The defects by name, in the order in which they are closed."""
