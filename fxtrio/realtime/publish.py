"""`publish(name, message)`: sends a message to a channel, from any code of a running app.

The caller has usually finished its work, such as an action that has committed. A broker
outage is therefore logged, and costs the message, but does not fail the action.
"""

from __future__ import annotations

import logging
from typing import Any

from fxtrio.application_errors import application_error
from fxtrio.context import current_app, why_no_app
from fxtrio.errors import BrokerUnreachable
from fxtrio.realtime.broker import Broker, BrokerMissing, require_public_name
from fxtrio.realtime.frames import Message, bounded

log = logging.getLogger("fx.realtime")


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
