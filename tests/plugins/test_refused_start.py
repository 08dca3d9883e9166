"""A start that a plugin refuses, for a reason that its message says in full, shows no traceback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from starlette.applications import Starlette
from starlette.types import Message

from fxtrio.app_handle import App
from fxtrio.asgi_extensions import START_REJECTED
from fxtrio.config import Config
from fxtrio.db.startup_errors import telling_shortly
from fxtrio.errors import DottedNameUnknown
from fxtrio.plugins import NoSettings, Plugin, open_plugins
from fxtrio.plugins.guard import GuardInvalid
from fxtrio.plugins.protocol import PluginFailed


def failing(cause: BaseException, reason: BaseException | None = None) -> Plugin[Any]:
    class Failing(Plugin[Any]):
        name = "mail"

        @asynccontextmanager
        async def open(self, app: App) -> AsyncIterator[None]:
            raise cause from reason
            yield

    return Failing(NoSettings(), config=Config(), root=Path())


async def start(plugin: Plugin[Any]) -> Message:
    """Return what an app that opens the plugin sends at its start."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        nothing: Any = None
        app = App(config=Config(), tasks=nothing, broker=nothing, state=nothing)
        async with trio.open_nursery(), open_plugins([plugin], app):
            yield

    sent: list[Message] = []

    async def receive() -> Message:
        await trio.lowlevel.checkpoint()
        return {"type": "lifespan.startup"}

    async def send(message: Message) -> None:
        await trio.lowlevel.checkpoint()
        sent.append(message)

    with pytest.raises(BaseExceptionGroup) as raised:
        await Starlette(lifespan=lifespan)({"type": "lifespan"}, receive, telling_shortly(send))
    assert raised.group_contains(PluginFailed)
    return sent[-1]


UNKNOWN = DottedNameUnknown("mails:send", "No module named 'mails'")


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        (UNKNOWN, None),
        (GuardInvalid("metricsGuard", "mails:send", "which cannot be imported"), UNKNOWN),
    ],
)
async def test_what_fxtrio_raises_is_reported_by_its_message(
    cause: Exception, reason: Exception | None
) -> None:
    message = await start(failing(cause, reason))
    assert message["message"].startswith("plugin 'mail': could not start: ")
    assert "\n" not in message["message"]
    assert str(cause).rstrip(".") in message["message"]
    assert message[START_REJECTED]


@pytest.mark.parametrize(
    ("cause", "reason"), [(OSError("no"), None), (UNKNOWN, ZeroDivisionError("its own code"))]
)
async def test_what_other_code_raises_has_its_traceback(
    cause: Exception, reason: Exception | None
) -> None:
    message = await start(failing(cause, reason))
    assert "Traceback" in message["message"]
    assert START_REJECTED not in message
