"""A whole app in process, for tests: no sockets, and any clock.

`open_app` compiles a project, runs its lifespan and gives a `Client` that speaks
HTTP, calls actions and opens WebSockets. `open_server` puts a real socket in front of it.
Re-exported as `fx.testing`.
Begin with `open`; `client` is the HTTP side.
"""

from fxtrio.testing.client import Client
from fxtrio.testing.open import open_app
from fxtrio.testing.page_data import DeferredResult, PageData, PageStream
from fxtrio.testing.real_server import RealClockNeeded, TestServer, ToolMissing, open_server
from fxtrio.testing.repeatable import repeatable
from fxtrio.testing.responses import ActionResult, TestResponse
from fxtrio.testing.socket import SocketClosed, SocketRejected, TestSocket

__all__ = [
    "ActionResult",
    "Client",
    "DeferredResult",
    "PageData",
    "PageStream",
    "RealClockNeeded",
    "SocketClosed",
    "SocketRejected",
    "TestResponse",
    "TestServer",
    "TestSocket",
    "ToolMissing",
    "open_app",
    "open_server",
    "repeatable",
]
