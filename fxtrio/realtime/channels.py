"""`channel(ws, name)`: subscribes a WebSocket to a named channel while a block lasts.

The block owns the subscription and its writer task. Leaving the block always
unsubscribes. An exception of the block's body propagates as it is, not in an exception
group.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    nullcontext,
)
from contextvars import copy_context
from functools import partial
from typing import Any, Generic, overload

import attrs
import trio
from starlette.websockets import WebSocket as PlainWebSocket
from starlette.websockets import WebSocketDisconnect, WebSocketState

from fxtrio.application_errors import application_error
from fxtrio.clients import client_network
from fxtrio.config import RealtimeConfig
from fxtrio.context import current_app, why_no_app
from fxtrio.errors import BrokerUnreachable, PlacedError
from fxtrio.realtime.broker import (
    Broker,
    BrokerMissing,
    PresenceBroker,
    PresenceUnavailable,
    require_public_name,
)
from fxtrio.realtime.frames import Message, bounded
from fxtrio.realtime.presence import ChannelEvents, Member, PresenceEvents
from fxtrio.realtime.receive_buffer import find_inbox
from fxtrio.realtime.send_buffer import (
    BROKER_AWAY,
    TOO_SLOW,
    TRY_AGAIN_LATER,
    Outbox,
)
from fxtrio.realtime.subscriptions import Membership
from fxtrio.realtime.transport import open_transport
from fxtrio.realtime.typed_socket import Sent, WebSocket
from fxtrio.spans import span

log = logging.getLogger("fx.realtime")

MISSED_PARAMETER = b"fx-missed"
"""Query parameter of a client that wants notice of lost messages (docs/reference/client.md)."""


class WebSocketNotAccepted(PlacedError):
    """A WebSocket was subscribed to a channel before it was accepted, or after its end."""

    remedy = "Call 'await ws.accept()' before, and do not close it within the block"

    def __init__(self, channel: str) -> None:
        super().__init__(f"channel({channel!r})", "the WebSocket is not open")
        self.channel = channel


@overload
def channel(
    ws: WebSocket[Sent], name: str, *, broker: Broker | None = None, member: Any = None
) -> AbstractAsyncContextManager[Channel[Sent]]: ...


@overload
def channel(
    ws: PlainWebSocket, name: str, *, broker: Broker | None = None, member: Any = None
) -> AbstractAsyncContextManager[Channel[Any]]: ...


@asynccontextmanager
async def channel(
    ws: PlainWebSocket, name: str, *, broker: Broker | None = None, member: Any = None
) -> AsyncIterator[Channel[Any]]:
    """Subscribe an accepted ``ws`` to the channel ``name`` while the block lasts.

    Messages are sent to the client as they arrive; the block itself may receive.
    ``member`` is a JSON value that identifies this subscriber to the others. If the block
    ends without an error, queued messages are still sent. ``broker`` defaults to the app's.

    A client that does not read fills its outbox (`realtime.outbox`, `realtime.outboxBytes`),
    or the budget of the process (`limits.unsent`), and is closed with 1013; the block raises
    WebSocketDisconnect then. With `realtime.overflow` set to ``drop_oldest`` a full outbox
    loses its oldest messages instead. A client is also closed with 1013 when the broker is
    unreachable: it may reconnect later.

    Raises WebSocketNotAccepted, ChannelNameInvalid for a name that begins with a NUL
    character, and BrokerMissing outside an app of fxtrio.
    """
    if ws.application_state is not WebSocketState.CONNECTED:
        raise WebSocketNotAccepted(name)
    require_public_name(name)
    through = _find_broker(ws, name) if broker is None else broker
    settings = _find_settings(ws)
    failures: list[Exception] = []
    try:
        async with trio.open_nursery() as nursery:
            outbox = Outbox(
                Member(info=member),
                open_transport(ws),
                capacity=settings.outbox,
                overflow=settings.overflow,
                on_overflow=nursery.cancel_scope.cancel,
                most=settings.outbox_bytes,
                address=client_network(ws.scope),
                wants_missed=MISSED_PARAMETER in ws.scope.get("query_string", b""),
            )
            membership = Membership(name, through, outbox)
            write = partial(nursery.start_soon, _write, membership, outbox, name=f"channel {name}")
            outbox.start_by(partial(copy_context().run, write))  # not in that of a publisher
            try:
                with _ended_by_disconnect(ws, membership, outbox):
                    await _join(membership, outbox)
                    yield Channel(name, outbox.member, through, outbox, settings.max_publish)
            except Exception as error:
                failures.append(error)
                outbox.close(unsubscribed=True)
            except BaseException:
                outbox.close(unsubscribed=True)
                raise
            finally:
                await membership.leave()
                outbox.finish(unsubscribed=True)
    finally:
        if failures:
            raise failures.pop()  # this frame is in its traceback, and must not reference it
    if outbox.overflowed:
        log.info("Closed a client of channel %r with 1013: it did not read", name)
        raise WebSocketDisconnect(TRY_AGAIN_LATER, TOO_SLOW)


@attrs.frozen(eq=False)
class Channel(Generic[Sent]):
    """A joined channel. Created by `channel`; valid until its block ends.

    ``Sent`` is the type of its messages, if the handler's WebSocket declares one.
    """

    name: str

    member: Member
    """This subscription, as others see it."""

    _broker: Broker
    _outbox: Outbox
    _limit: int
    """Most bytes of a message."""

    async def publish(self, message: Sent) -> None:
        """Send ``message`` to every subscriber, this one included.

        A dict or list is sent as JSON, a str as text, bytes as binary. Does not wait for
        subscribers. Messages of one publisher arrive in order. Raises MessageNotEncodable,
        and MessageTooLarge above `realtime.maxPublish`.
        """
        frame = bounded(self.name, message, self._limit)  # type: ignore[arg-type]  # rejects others
        taken: Any = frame if getattr(self._broker, "takes_frames", False) else message
        with span("publish", "channel"):
            await self._broker.publish(self.name, taken)

    @property
    def subscribers(self) -> tuple[Member, ...]:
        """All members of the channel, this one included, in the order they joined.

        Raises PresenceUnavailable when a custom broker does not know.
        """
        if not isinstance(self._broker, PresenceBroker):
            raise PresenceUnavailable(self.name, self._broker)
        return self._broker.members(self.name)

    def presence(self) -> PresenceEvents:
        """Return an iterator of members that join and leave from now on, except this one.

        Yields `Joined` and `Left`, and a `Roster` in place of events that a slow
        reader missed. It ends with the block. Raises PresenceUnavailable.
        """
        if not isinstance(self._broker, PresenceBroker):
            raise PresenceUnavailable(self.name, self._broker)
        return self._outbox.watch(PresenceEvents(lambda: self.subscribers))

    def events(self) -> ChannelEvents:
        """Return an iterator of the channel's events, from now on.

        Yields the events of `presence`, if the broker supports them, and `Missed` where this
        subscriber lost messages. It ends with the block.
        """
        return self._outbox.watch(ChannelEvents(lambda: self.subscribers))


async def _join(membership: Membership, outbox: Outbox) -> None:
    """Subscribe; while the broker is away, send the client off until later."""
    try:
        await membership.join()
    except BrokerUnreachable as error:
        log.info("Closed a client of channel %r with 1013: %s", membership.name, error)
        outbox.reject(BROKER_AWAY)
        raise WebSocketDisconnect(TRY_AGAIN_LATER, BROKER_AWAY) from error


async def _write(membership: Membership, outbox: Outbox) -> None:
    """Send the outbox's messages; unsubscribe when the client disconnects."""
    await outbox.run()
    await membership.leave()


async def _disconnect(membership: Membership, outbox: Outbox) -> None:
    """Unsubscribe, since the client has disconnected and the block may go on."""
    outbox.close(unsubscribed=True)
    await membership.leave()


def _ended_by_disconnect(
    ws: PlainWebSocket, membership: Membership, outbox: Outbox
) -> AbstractContextManager[None]:
    """Unsubscribe when the client disconnects, if the WebSocket has an inbox."""
    inbox = find_inbox(ws.scope)
    if inbox is None:
        return nullcontext()
    if inbox.disconnect is not None:
        outbox.close()  # the writer unsubscribes
    return inbox.on_disconnect(partial(_disconnect, membership, outbox))


def _find_broker(ws: PlainWebSocket, name: str) -> Broker:
    state = getattr(ws.scope.get("app"), "state", None)
    broker: Broker | None = getattr(state, "fx_broker", None)
    if broker is None:
        raise BrokerMissing(name)
    return broker


def _find_settings(ws: PlainWebSocket) -> RealtimeConfig:
    """Return the app's settings; the defaults in an app that is not ours."""
    state = getattr(ws.scope.get("app"), "state", None)
    app = getattr(state, "fx", None)
    return RealtimeConfig() if app is None else app.config.realtime


async def publish(name: str, message: Message) -> bool:
    """Send ``message`` to every subscriber of the channel ``name``, through the app's broker.

    A dict or list is sent as JSON, a str as text, bytes as binary. Does not wait for
    subscribers. Returns whether the broker accepted it; a failure is logged, and the message
    may or may not have arrived. Works in loaders, actions, jobs, endpoints, WebSocket
    handlers and the tasks that they start.

    Raises ChannelNameInvalid for a name that begins with a NUL character,
    MessageNotEncodable, MessageTooLarge above `realtime.maxPublish`, and BrokerMissing
    outside a running app.
    """
    require_public_name(name)
    app = current_app()
    if app is None:
        raise BrokerMissing(name, call="publish", cause=why_no_app())
    broker: Broker = app.broker
    frame = bounded(name, message, app.config.realtime.max_publish)
    taken: Any = frame if getattr(broker, "takes_frames", False) else message
    try:
        with span("publish", "channel"):
            await broker.publish(name, taken)
    except BrokerUnreachable as error:
        log.error("A message to the channel %r may be lost: %s", name, error)
        return False
    except BaseException as raised:  # a custom broker is application code
        failure = application_error(raised)
        log.error(
            "A message to the channel %r may be lost: the broker failed", name, exc_info=failure
        )
        return False
    return True
