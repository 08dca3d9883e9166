"""`publish(name, message)`: a message to a channel, from any code of a running app.

What publishes has mostly done its work before: an action has committed. So a broker
that is away costs the message and a line in the log, and not the action.
"""

from __future__ import annotations

import logging
from typing import Any

from fxtrio.application_errors import application_error
from fxtrio.context import current_app, why_no_app
from fxtrio.errors import BrokerUnreachable
from fxtrio.realtime.broker import Broker, BrokerMissing, refuse_internal
from fxtrio.realtime.frames import Message, bounded

log = logging.getLogger("fx.realtime")


async def publish(name: str, message: Message) -> bool:
    """Send ``message`` to every subscriber of the channel ``name``, through the app's broker.

    A dict or list goes as JSON, a str as text, bytes as binary. Waits for no reader.
    Returns whether the broker took it: when it did not, that is in the log, and the
    message may or may not have arrived. Works in loaders, actions, jobs, endpoints,
    WebSocket handlers and what they start.

    Raises ChannelNameRefused for a name that begins with a NUL character,
    MessageNotEncodable, MessageTooLarge above `realtime.maxPublish`, and BrokerMissing
    outside a running app.
    """
    refuse_internal(name)
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
