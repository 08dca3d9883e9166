"""A whole app in process, for tests."""

from fxtrio.testing import (
    ActionResult,
    Client,
    PageData,
    SocketClosed,
    SocketRefused,
    TestResponse,
    TestSocket,
    open_app,
)

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
