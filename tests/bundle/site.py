"""A server that plays the part of fxtrio for a bundled project: documents, payloads, actions."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs

from fxtrio.compile.bundling.bundle import BundleResult
from fxtrio.serve.request.client_protocol import PAYLOAD

_TYPES = {".js": "text/javascript", ".css": "text/css", ".map": "application/json"}
_POLICY = (
    "default-src 'self'; script-src 'self' 'nonce-n0nce'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:"
)


@attrs.define
class Request:
    """What a client has sent."""

    method: str
    path: str
    query: str
    headers: Message
    body: bytes

    @property
    def navigation(self) -> bool:
        """Whether the router asks for a payload."""
        return self.headers.get("x-fx-navigation") == "1"


@attrs.define
class Answer:
    """What the server sends."""

    status: int
    media: str
    body: bytes
    headers: dict[str, str] = attrs.field(factory=dict)


@attrs.define
class Site:
    """Pages by path. Tests change what it answers and read what was requested."""

    result: BundleResult
    client: Path
    """Folder of the hashed files."""

    states: dict[str, Callable[[Request], dict[str, Any]]] = attrs.field(factory=dict)
    """Path to its page state, without what is the same for all."""

    html: dict[str, tuple[str, str]] = attrs.field(factory=dict)
    """Path to head and HTML of its document; empty ones make the browser render."""

    streamed: set[str] = attrs.field(factory=set)
    """Paths whose HTML closes the root element by itself."""

    answers: dict[str, Callable[[Request], Answer]] = attrs.field(factory=dict)
    """Path to an answer of any other kind."""

    requests: list[Request] = attrs.field(factory=list)
    build: str = ""
    """What payloads say when it is not the build."""

    def requested(self, *, navigation: bool) -> list[str]:
        """Return the paths of pages that were requested in this way, with their queries."""
        return [
            f"{request.path}?{request.query}".rstrip("?")
            for request in self.requests
            if request.path in self.states and request.navigation is navigation
        ]

    def state(self, path: str, request: Request | None = None) -> dict[str, Any]:
        """Return the whole state of a page."""
        request_of_page = request or Request("GET", path, "", Message(), b"")
        changes = self.states[path](request_of_page)
        view = changes.pop("view")
        client = self.result.clients[view]
        return {
            "ok": True,
            "statusCode": 200,
            "routePath": path,
            "requestedPath": f"{path}?{request_of_page.query}".rstrip("?"),
            "page": {**client, "id": view},
            "params": {},
            "props": {"data": {}, "layoutData": {}},
            "layouts": [None] * len(client["layouts"]),
            "head": [],
            "ttl": 0,
            "nonce": "n0nce",
            **changes,
        }

    def answer(self, request: Request) -> Answer:
        """Return what the app would answer."""
        if request.path.startswith("/_fx/"):
            file = self.client / request.path.removeprefix("/_fx/")
            return Answer(200, _TYPES.get(file.suffix, "text/plain"), file.read_bytes())
        self.requests.append(request)
        if request.path in self.answers:
            return self.answers[request.path](request)
        if request.path not in self.states:
            return Answer(404, "text/html", b"<h1>nothing here</h1>")
        state = self.state(request.path, request)
        if request.navigation:
            if self.build:
                state["page"]["build"] = self.build
            media = PAYLOAD.decode()
            return Answer(state["statusCode"], media, json.dumps(state).encode())
        headers = {"content-security-policy": _POLICY}
        return Answer(state["statusCode"], "text/html", self._document(request, state), headers)

    def _document(self, request: Request, state: dict[str, Any]) -> bytes:
        head, html = self.html.get(request.path, ("", ""))
        root = html if request.path in self.streamed else f"{html}</div>"
        entry = self.result.entry.module
        styles = "".join(
            f'<link rel="stylesheet" href="{url}">' for url in state["page"].get("css", ())
        )
        data = json.dumps(state).replace("<", "\\u003c")
        return (
            f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{head}{styles}'
            f'<script type="module" src="{entry}"></script></head>'
            f'<body><div id="fx-root">{root}'
            f'<script type="application/json" id="__fx_data">{data}</script></body></html>'
        ).encode()


@contextmanager
def serve(site: Site) -> Iterator[str]:
    """Serve ``site`` for the block; gives its origin."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            answer = site.answer(Request(self.command, url.path, url.query, self.headers, body))
            self.send_response(answer.status)
            self.send_header("content-type", answer.media)
            self.send_header("content-length", str(len(answer.body)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(answer.body)
            except ConnectionError:
                self.close_connection = True  # the client did not want it any more

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
