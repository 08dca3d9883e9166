"""`publish(name, message)`: a message to a channel, from any code of a running app.

What publishes has mostly done its work before: an action has committed. So a broker
that is away costs the message and a line in the log, and not the action.
"""

from __future__ import annotations

import logging

from fxtrio.context import current_app
from fxtrio.errors import BrokerUnreachable, MessageNotEncodable
from fxtrio.realtime.broker import Broker, BrokerMissing
from fxtrio.realtime.frames import Message

log = logging.getLogger("fx.realtime")


async def publish(name: str, message: Message) -> bool:
    """Send ``message`` to every subscriber of the channel ``name``, through the app's broker.

    A dict or list goes as JSON, a str as text, bytes as binary. Waits for no reader.
    Returns whether the broker took it: when it did not, that is in the log, and the
    message may or may not have arrived. Works in loaders, actions, jobs, endpoints,
    WebSocket handlers and what they start.

    Raises MessageNotEncodable, and BrokerMissing outside a running app.
    """
    app = current_app()
    if app is None:
        raise BrokerMissing(name, call="publish")
    broker: Broker = app.broker
    try:
        await broker.publish(name, message)
    except MessageNotEncodable:
        raise
    except BrokerUnreachable as error:
        log.error("A message to the channel %r may be lost: %s", name, error)
        return False
    except Exception:  # a custom broker is application code
        log.exception("A message to the channel %r may be lost: the broker failed", name)
        return False
    return True
