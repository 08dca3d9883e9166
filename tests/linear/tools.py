"""What the tools read of a project, an editor, a browser in development, and of other processes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from fxtrio.compile.split.halves import split as split_page
from fxtrio.compile.split.language_detection import has_ui_token
from fxtrio.config.env_files import _problems, _values
from fxtrio.db.migrations.scripts import statements_of, transaction_control
from fxtrio.develop.processes.line_stream import read_lines
from fxtrio.develop.report.overlay_errors import _place_named, overlay_stop
from fxtrio.develop.serving.allowed_hosts import _is_foreign, is_known
from fxtrio.develop.serving.dev_app import _nonce_of, _with_origin
from fxtrio.develop.vite.vite_proxy import _own_request
from fxtrio.log import printable_in_colours
from fxtrio.realtime.broker import ChannelNameInvalid, require_public_name
from fxtrio.realtime.stores.postgres import PostgresBackend
from fxtrio.serve.openapi.visible import visible
from fxtrio.ssr.errors import place_in_stack
from fxtrio.tools.lsp.answers.formatting import edits_between
from fxtrio.tools.lsp.answers.symbols import page_of
from fxtrio.tools.lsp.checks.checking import _position
from fxtrio.tools.lsp.documents.name_ranges import _moved_line
from fxtrio.tools.lsp.documents.page import _line
from fxtrio.tools.lsp.documents.positions import edited, places_of
from fxtrio.tools.openapi.operations import _about, _identifier, paths_of
from fxtrio.tools.types.report.rpc_frames import MessageSource
from fxtrio.tools.types.ui.source.default_export import find_default
from fxtrio.tools.types.ui.source.jsx_positions import read_places

Parser = Callable[[bytes], object]

ROOT = Path("/a/b")


def text(read: Callable[[str], object], before: str = "", after: str = "") -> Parser:
    """Give a function of text what is sent, as Latin-1."""
    return lambda body: read(before + body.decode("latin-1") + after)


def run(work: Coroutine[Any, Any, object]) -> object:
    """Run what never waits, without an event loop."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits")


class Stream:
    """Gives pieces of ``data`` of 64 bytes."""

    def __init__(self, data: bytes) -> None:
        self._pieces = [data[at : at + 64] for at in range(0, len(data), 64)]

    async def receive_some(self, size: int) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


async def _lines(body: bytes) -> object:
    return [line async for line in read_lines(cast("Any", Stream(body)))]


async def _message(body: bytes) -> object:
    source = MessageSource(cast("Any", Stream(body)))
    lines = []
    while line := await source.readline():
        lines.append(line)
    return lines


def _start(name: bytes, before: bytes = b"") -> Callable[[bytes], dict[str, Any]]:
    return lambda body: {
        "type": "http.response.start",
        "headers": [(b"content-type", b"text/html"), (name, before + body)],
    }


_policy = _start(b"content-security-policy", b"script-src ")
_request_id = _start(b"x-request-id")
_end = {"line": 10**6, "character": 0}
_begin = {"line": 0, "character": 0}
_shared = SimpleNamespace(_prefix="fx:a")


def _document(body: bytes) -> object:
    path = "/" + body.decode("latin-1")
    components: dict[str, Any] = {"schemas": {}, "responses": {}, "securitySchemes": {}}
    return visible({"paths": {path: {"get": {}}}, "components": components}, {(path, "get")})


def _default(body: bytes) -> object:
    code = "export default " + body.decode("latin-1")
    return find_default(code, read_places(code))


TOOLS: dict[str, Parser] = {
    # Files of the project.
    "a page file": text(lambda code: split_page(code, "a.fxl")),
    "UI code": text(lambda code: split_page("export default () => <p>" + code, "a.fxl")),
    "a tag of JSX": text(lambda code: split_page("export default () => <p a=" + code, "a.fxl")),
    "code in JSX": text(lambda code: split_page("export default () => <p>{" + code, "a.fxl")),
    "Python code": text(lambda code: split_page("import a\n@server\n" + code, "a.fxl")),
    "a formatted string": text(lambda code: split_page('a = f"{' + code, "a.fxl")),
    "a line of code": text(has_ui_token),
    "a default export": _default,
    "an .env file": text(lambda value: (list(_problems(value, ".env")), _values(value))),
    "a migration": text(lambda sql: (statements_of(sql), transaction_control(sql))),
    # Browsers in development, and what is wrong with an app.
    "a host in development": text(
        lambda host: is_known(host, own="127.0.0.1", allowed=["a.example", ".b.example"])
    ),
    "an origin in development": lambda body: _is_foreign([(b"origin", body)], "a"),
    "a message of a browser": text(_own_request, '{"event":"fx:own","data":{"request":"', '"}}'),
    "lines of a process": lambda body: run(_lines(body)),
    "a line for a terminal": text(printable_in_colours),
    "a policy of a page": lambda body: _nonce_of(_policy(body)),
    "an id of a request": lambda body: _with_origin(_request_id(body), 0),
    "a stack of JavaScript": text(lambda stack: place_in_stack(stack, ROOT)),
    "a stack of one folder": text(lambda stack: place_in_stack("/a/b/" + stack, ROOT)),
    "a message with a place": text(lambda message: _place_named(message[:200], ROOT)),
    "why an app does not start": text(lambda details: overlay_stop("a", details, ROOT)),
    # Editors.
    "messages of an editor": lambda body: run(_message(body)),
    "an edit": text(lambda new: edited(new, {"start": _begin, "end": _end}, new)),
    "lines of a text": text(lambda code: places_of(code).position(len(code))),
    "a formatted text": text(lambda code: edits_between(code, code.replace("a", "b") + "c\n")),
    "a link": text(lambda href: page_of(href, ["/a/[b]", "/[...rest]"]), "/"),
    "a column": text(lambda line: (_position(1, line, len(line)), _line(line, 1))),
    "a line that has moved": text(lambda code: _moved_line(code, 1, places_of(code))),
    # Channels and documents.
    "a channel's name": text(require_public_name),
    "an internal name": text(ChannelNameInvalid),
    "a channel of PostgreSQL": text(lambda name: PostgresBackend._key(cast("Any", _shared), name)),
    "an OpenAPI document": _document,
    "a path of OpenAPI": text(lambda pattern: paths_of("/" + pattern, ())),
    "a text of OpenAPI": text(lambda value: (_about(value, value), _identifier(value, value))),
}
