"""The HTTP/1.1 and WebSocket connection of `fx serve`.

`Connection` serves one client with the `Services` of its worker; what it may spend on
the client is in `ServerLimits`. Only `fxtrio.server.http1.hypercorn_adapter` knows of Hypercorn.
Begin with `connection`, the loop of one client; `app_runner` runs the application.
"""

from fxtrio.server.http1.connection import Connection
from fxtrio.server.http1.connection_context import Services
from fxtrio.server.http1.limits import ServerLimits

__all__ = ["Connection", "ServerLimits", "Services"]
