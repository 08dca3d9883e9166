"""`subscribe(name)`: the events of a channel as an asynchronous iterator, without a WebSocket.

The block owns the subscription. Leaving it always unsubscribes: by a return, an error or a
cancellation.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import attrs

from fxtrio.config import RealtimeConfig
from fxtrio.context import current_app, why_no_app
from fxtrio.realtime.broker import Broker, BrokerMissing, LogBroker, require_public_name
from fxtrio.realtime.feeds.feed import Event, Feed
from fxtrio.realtime.presence import Member, Missed
from fxtrio.realtime.subscriptions import Membership
from fxtrio.send_budget import process_unsent


@attrs.frozen(eq=False)
class Subscription:
    """An asynchronous iterator of `Event` and `Missed`. Created by `subscribe`.

    It is valid until its block ends; its loop ends then, too.

    A slow reader delays neither publishers nor other subscribers: it continues from the log.
    Raises BrokerUnreachable if the log must be read while the broker is unreachable; start the
    loop again then.
    """

    name: str

    member: Member
    """This subscription, as others see it."""

    _feed: Feed

    @property
    def id(self) -> str | None:
        """The id of the place it was last known to have reached: ``after`` of the next one."""
        return self._feed.reached

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Event[Any] | Missed:
        """Wait for the next event."""
        return await self._feed.take()


@asynccontextmanager
async def subscribe(
    name: str, *, after: str | None = None, broker: Broker | None = None, member: Any = None
) -> AsyncIterator[Subscription]:
    """Subscribe to the channel ``name`` while the block lasts, and iterate over its events.

    ``after`` is the id of an event: the messages after it are read from the log of the channel
    first, in order, each once. A `Missed` takes the place of messages that the log no longer
    has, and comes first for an id that the log does not know. Any text is safe: it may come from
    a client. Without ``after`` the block begins with the next message. ``member`` is a JSON value
    that identifies this subscription to the channel's members; ``broker`` defaults to the app's.

    Raises ChannelNameInvalid for a name that begins with a NUL character, BrokerUnreachable,
    and BrokerMissing outside a running app.
    """
    require_public_name(name)
    app = current_app()
    if broker is None:
        if app is None:
            raise BrokerMissing(name, call="subscribe", cause=why_no_app())
        broker = app.broker
    settings = RealtimeConfig() if app is None else app.config.realtime
    log = broker if isinstance(broker, LogBroker) else None
    feed = Feed(name, Member(info=member), settings.outbox, settings.outbox_bytes, log)
    membership = Membership(name, broker, feed)
    process_unsent.enter(feed)
    try:
        await membership.join()
        end = None if log is None else await log.begin_log(name)
        if after is None:
            feed.begin(end)
        else:
            feed.resume(after, end)
        yield Subscription(name, feed.member, feed)
    finally:
        feed.close()
        process_unsent.leave(feed)
        await membership.leave()
