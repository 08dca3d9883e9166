"""The HTTP/1.1 and WebSocket connection of `fx serve`.

`Connection` takes the place of Hypercorn's `TCPServer`; what it may spend on one
client is in `ServerLimits`. `use_in_hypercorn` puts it into a server that is not ours.
"""

from fxtrio.http1.connection import Connection
from fxtrio.http1.hypercorn import use_in_hypercorn
from fxtrio.http1.limits import ServerLimits

__all__ = ["Connection", "ServerLimits", "use_in_hypercorn"]
