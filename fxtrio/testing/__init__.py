"""A whole app in process, for tests: no sockets, and any clock.

`open_app` compiles a project, runs its lifespan and gives a `Client` that speaks
HTTP, calls actions and opens WebSockets. Re-exported as `fx.testing`.
Begin with `open`; `client` is the HTTP side.
"""

from fxtrio.testing.client import ActionResult, Client, PageData, TestResponse
from fxtrio.testing.open import open_app
from fxtrio.testing.socket import SocketClosed, SocketRefused, TestSocket

__all__ = [
    "ActionResult",
    "Client",
    "PageData",
    "SocketClosed",
    "SocketRefused",
    "TestResponse",
    "TestSocket",
    "open_app",
]
