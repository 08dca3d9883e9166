"""The HTTP/1.1 and WebSocket connection of `fx serve`.

`Connection` serves one client with the `Services` of its worker; what it may spend on
the client is in `ServerLimits`. Only `fxtrio.http1.hypercorn` knows of Hypercorn.
Begin with `connection`, the loop of one client; `answer` runs the application.
"""

from fxtrio.http1.connection import Connection
from fxtrio.http1.limits import ServerLimits
from fxtrio.http1.services import Services

__all__ = ["Connection", "ServerLimits", "Services"]
