"""`/__fx/mcp` of `fx dev`: the tools over HTTP, for programs of this machine that know the token.

A site that leads its own name to this machine, and any other page in a browser, are kept out by
the host, which `HostGuard` checks, by the origin, by the address and by the token, which is in a
file that only the developer can read.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import msgspec
import trio
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from fxtrio.build_folder import UNUSABLE, require_no_link
from fxtrio.develop.mcp.http import request
from fxtrio.develop.mcp.live_tools import Here, live_tools
from fxtrio.develop.mcp.recent_log import RecentLog
from fxtrio.develop.mcp.tools import local_tools

PATH = "/__fx/mcp"

FILE = ".fx/mcp.json"
"""Where `fx mcp` finds the server: its URL and token."""


_TOKEN = re.compile("[A-Za-z0-9_-]{43}")
"""What `secrets.token_urlsafe` makes of 32 bytes: a file may not name one that is easy to guess."""


@attrs.frozen
class Known:
    """The content of `FILE`."""

    url: str
    token: str


def read_known(root: Path) -> Known | None:
    """Return where `fx dev` of a project serves, or did; None if it never has."""
    with suppress(*UNUSABLE):
        data = require_no_link(root, FILE).read_bytes()
        known = msgspec.json.decode(data, type=Known)
        return known if _TOKEN.fullmatch(known.token) else None
    return None


def write_known(root: Path, url: str) -> Known:
    """Note where this process serves; a token that is there already stays valid."""
    before = read_known(root)
    known = Known(url, before.token if before else secrets.token_urlsafe(32))
    file = require_no_link(root, FILE)
    file.parent.mkdir(exist_ok=True)
    draft = file.with_name(f"mcp.json.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as text:
        json.dump(attrs.asdict(known), text)
    draft.replace(file)
    return known


async def call_known(known: Known, tool: str, arguments: Mapping[str, Any]) -> bytes:
    """Return the JSON-RPC response of `fx dev` to the call of a tool. Raises OSError."""
    params = {"name": tool, "arguments": dict(arguments)}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "authorization": f"Bearer {known.token}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }
    return (await request("POST", known.url, headers, json.dumps(call).encode())).body


class ToolsEndpoint:
    """Serves ``app``, and the tools at `PATH`. The SDK is imported at the first request."""

    def __init__(self, app: ASGIApp, root: Path, here: Here) -> None:
        self._app = app
        self._root = root
        self._here = here
        self._path = here.base_url + PATH
        self._log = RecentLog(root)
        self._token = b""
        self._nursery: trio.Nursery | None = None
        self._manager: Any = None
        self._starting = trio.Lock()
        self.state = getattr(app, "state", None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif scope["type"] == "http" and scope["path"] == self._path:
            reason = self._rejection(scope)
            if reason:
                await PlainTextResponse(reason, 403)(scope, receive, send)
                return
            manager = await self._manager_of(self._here)
            await manager.handle_request(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the app's lifespan, and the tools' tasks below it."""
        known = write_known(self._root, self._here.url(PATH))
        self._token = known.token.encode()
        with self._log.listening():
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                await self._app(scope, receive, send)
                nursery.cancel_scope.cancel("the app has ended")

    def _rejection(self, scope: Scope) -> str:
        """Return why a request is rejected; "" when it is not."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        address = (scope.get("client") or ("",))[0]
        with suppress(ValueError):
            if not ipaddress.ip_address(address).is_loopback:
                return "fx dev: the tools are for programs of this machine.\n"
        if any(name in (b"origin", b"sec-fetch-site") for name, _ in headers):
            return "fx dev: the tools are not for pages in browsers.\n"
        sent = [value for name, value in headers if name == b"authorization"]
        if len(sent) != 1 or not secrets.compare_digest(sent[0], b"Bearer " + self._token):
            return f"fx dev: send the token of {FILE}, as 'Authorization: Bearer TOKEN'.\n"
        return ""

    async def _manager_of(self, here: Here) -> Any:
        """Return the running manager of the SDK."""
        async with self._starting:
            if self._manager is None:
                assert self._nursery is not None
                self._manager = await self._nursery.start(self._run_manager, here)
        return self._manager

    async def _run_manager(
        self, here: Here, *, task_status: trio.TaskStatus[Any] = trio.TASK_STATUS_IGNORED
    ) -> None:
        # Heavy: seconds, which only those wait for who call a tool.
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from fxtrio.develop.mcp.sdk import make_server

        server = make_server([*local_tools(self._root), *live_tools(self._log, here)])
        manager = StreamableHTTPSessionManager(server, stateless=True, json_response=True)
        async with manager.run():
            task_status.started(manager)
            await trio.sleep_forever()
