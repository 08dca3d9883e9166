"""Tools that need the server: the log of requests, errors, the data of a page, a screenshot."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import attrs
import trio

from fxtrio.develop.mcp.http import request
from fxtrio.develop.mcp.recent_log import RecentLog
from fxtrio.develop.mcp.tools import Picture, Tool, ToolFailed, shortened
from fxtrio.errors import FxtrioError
from fxtrio.observe.observer import ask_process
from fxtrio.observe.text import text_of
from fxtrio.temporary_folders import open_temporary_folder

LIMIT = 30.0
"""How long the server may take for a page, and Chromium for its picture (seconds)."""

_ERRORS = 20
_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_PATH = {"type": "string", "description": "A path of the app with its query: /book/5?tab=new"}


@attrs.frozen
class Here:
    """The server, as its own process reaches it."""

    host: str
    port: int
    base_url: str

    def url(self, path: str) -> str:
        """Return the URL of a path, which never leads elsewhere. Raises ToolFailed."""
        plain = path.startswith("/") and not path.startswith("//") and path.isascii()
        if not plain or not path.isprintable() or " " in path or "\\" in path:
            raise ToolFailed(f"{path!r}: is not a path of the app. Begin it with one slash.")
        return f"http://{self.host}:{self.port}{self.base_url}{path}"


def live_tools(log: RecentLog, here: Here) -> list[Tool]:
    """Return the tools of a server that logs to ``log``."""
    size = {"type": "integer", "minimum": 200, "maximum": 3000}
    return [
        Tool(
            name="errors",
            description=(
                "Show the last errors of the running app, the newest first: the place in the "
                "page file, the request's id, and the traceback."
            ),
            call=partial(_errors, log),
        ),
        Tool(
            name="request_log",
            description="Show the lines that were logged for one request.",
            call=partial(_request_log, log),
            properties={
                "request_id": {"type": "string", "description": "The value of X-Request-Id."}
            },
            required=("request_id",),
        ),
        Tool(
            name="tree",
            description=(
                "Show the tasks that run in the server now: who owns each, how old it is, and the "
                "line of the project that it waits at. Call it when something hangs."
            ),
            call=_tree,
        ),
        Tool(
            name="page_data",
            description=(
                "Request a page as an anonymous visitor, and return its status and what its "
                "loaders have returned, as JSON. The loaders run."
            ),
            call=partial(_page_data, here),
            properties={"path": _PATH},
            required=("path",),
        ),
        Tool(
            name="screenshot",
            description="Show a page as an anonymous visitor sees it in Chromium.",
            call=partial(_screenshot, here),
            properties={"path": _PATH, "width": size, "height": size},
            required=("path",),
        ),
    ]


async def _errors(log: RecentLog, arguments: Mapping[str, Any]) -> str:
    await trio.lowlevel.checkpoint()
    found = [line for line in reversed(tuple(log.lines)) if line.is_error][:_ERRORS]
    if not found:
        return "No error has been logged since the app was started."
    texts = (f"{line.place or '?'} [request {line.request}]\n{line.text}" for line in found)
    return shortened("\n\n".join(texts))


async def _request_log(log: RecentLog, arguments: Mapping[str, Any]) -> str:
    await trio.lowlevel.checkpoint()
    wanted = str(arguments["request_id"])
    found = [line.text for line in tuple(log.lines) if line.request == wanted]
    return shortened("\n".join(found)) or f"Nothing was logged for the request {wanted!r}."


async def _tree(arguments: Mapping[str, Any]) -> str:
    try:
        found = await trio.to_thread.run_sync(ask_process, os.getpid())
    except FxtrioError as error:
        raise ToolFailed(str(error)) from error
    return shortened(text_of(json.loads(found)))


async def _page_data(here: Here, arguments: Mapping[str, Any]) -> str:
    url = here.url(str(arguments["path"]))
    with trio.move_on_after(LIMIT):
        answer = await request("GET", url, {"x-fx-navigation": "1"})
        text = answer.body.decode(errors="replace")
        return shortened(f"status {answer.status}, request {answer.request_id}\n{text}")
    raise ToolFailed(f"page_data: {arguments['path']!r} took longer than {LIMIT:g} s.")


async def _screenshot(here: Here, arguments: Mapping[str, Any]) -> Picture:
    url = here.url(str(arguments["path"]))
    browser = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise ToolFailed("screenshot: Chromium is not installed. Install it, or call page_data.")
    size = f"--window-size={arguments.get('width', 1280)},{arguments.get('height', 800)}"
    with open_temporary_folder("fxtrio-shot-") as folder:
        file = folder / "page.png"
        command = [
            *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *(f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000"),
            *(size, f"--screenshot={file}", url),
        ]
        with trio.move_on_after(LIMIT):
            await trio.run_process(
                command, check=False, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL
            )
        return _read(file)


def _read(file: Path) -> Picture:
    if not file.is_file():
        raise ToolFailed(f"screenshot: Chromium took no picture within {LIMIT:g} s.")
    return Picture(data=file.read_bytes())
