"""The tools and the development server, attacked: hostile files, private ones, and escapes."""

from __future__ import annotations

import json
import re
import secrets
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from urllib.parse import quote

import httpx
import trio
from trio_websocket import open_websocket_url

from ..e2e.support import Server, serving
from ..hostile_files.files import random_file
from ..hostile_files.tools import FX, run, write_project
from ..ports import free_port
from ..trees import write_tree
from .findings import Finding

COMMANDS = (("check", "--static"), ("check", "--json"), ("build",), ("format", "--check"))
FILES = 6
"""Hostile page files of one project."""

_ESCAPES = re.compile(r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]|\x1b(?!\[[0-9;]*m)")
"""What a terminal would obey, but for colours, which Vite and click print."""


def attack_commands(folder: Path, dice: Random) -> Iterator[Finding]:
    """Give hostile page files to the commands, which may find mistakes in them."""
    files = {f"{number}": random_file(dice) for number in range(FILES)}
    write_project(folder, files)
    for command in COMMANDS:
        try:
            run(folder, *command)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            name = " ".join(command)
            yield Finding("tool", f"fx {name} ends over a page file: {folder}", f"{error!r:.3000}")


def attack_development(folder: Path) -> Iterator[Finding]:
    """Ask `fx dev` for private files, and let it print what visitors say."""
    secret = secrets.token_hex(16)
    write_tree(folder, {name: text.replace("SECRET", secret) for name, text in _PROJECT.items()})
    port = free_port()
    with serving([*FX, "dev", "--port", str(port)], folder, port) as server:
        httpx.get(server.url, timeout=60)
        for path in _paths(folder):
            reply = httpx.get(f"{server.url}{path}", timeout=60)
            if secret in reply.text:
                yield Finding("breach", f"fx dev gives away {path.replace(str(folder), '…')}")
        mark = secrets.token_hex(8)
        httpx.get(f"{server.url}/?said={quote(_CONTROLS)}", timeout=60)
        trio.run(_throw, server, mark)
        output = _wait_for(server, mark)
        for line in filter(_ESCAPES.search, output.splitlines()):
            yield Finding("log", "the terminal of fx dev gets escapes", repr(line))


_CONTROLS = "\x1b]0;forged\x07 \x9b31m \x08\x7f"
_PROJECT = {
    "pages/index.fxl": "import logging\n\n\n@server\nasync def load(request):\n"
    "    said = request.query_params.get('said', '')\n"
    "    if said:\n        logging.getLogger('shop').warning('said %s', said)\n"
    "        raise RuntimeError(said)\n    return {'said': said}\n\n\n"
    "export default ({ data }) => <p>{data.said}</p>;\n",
    "pages/own.png": "SECRET",
    "data/passport.png": "SECRET",
    "data/invoice.pdf": "SECRET",
    "data/site.json": '"SECRET"',
    "public/.hidden/x.txt": "SECRET",
    ".env": "OWN=SECRET\n",
    "settings.py": "# SECRET\n",
    "fx.config.json": "{}",
}


def _paths(folder: Path) -> Iterator[str]:
    names = [name for name in _PROJECT if name not in ("pages/index.fxl", "fx.config.json")]
    for name in names:
        for query in ("", "?raw", "?url", "?import", "?inline", "?import&raw", "?t=1"):
            for place in (name, f"@fs{folder}/{name}", name.replace(".", "%2e")):
                yield f"/_fx/{place}{query}"
        yield f"/{name}"
        yield f"/{name.removeprefix('public')}"


async def _throw(server: Server, mark: str) -> None:
    """Tell `fx dev` of an error, as a page does that has thrown it."""
    url = f"{server.url.replace('http', 'ws', 1)}/_fx/@hot"
    with trio.fail_after(60):
        async with open_websocket_url(url, extra_headers=[(b"origin", server.url.encode())]) as ws:
            for stack in (f"Error: {_CONTROLS}", f"Error: {mark}"):
                thrown = {"type": "custom", "event": "fx:thrown", "data": {"id": 1, "stack": stack}}
                await ws.send_message(json.dumps(thrown))
            while "fx:located" not in await ws.get_message():
                pass


def _wait_for(server: Server, mark: str) -> str:
    deadline = time.monotonic() + 60
    while mark not in server.output():
        assert time.monotonic() < deadline, server.output()[-2000:]
        time.sleep(0.05)
    return server.output()
