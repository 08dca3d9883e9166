"""A whole response in one call has the bytes of the same response in two ASGI messages."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from fx.testing import open_app
from fxtrio.application import Application
from fxtrio.asgi_extensions import WHOLE_RESPONSE, offer_without_frame, without_frame
from fxtrio.server.http1.response import BadResponse, Response, header_lines
from tests.http1.support import App, open_server, read_body
from tests.trees import page, write_tree

LOADERS = {
    "index": 'return {"message": "Hello"}',
    "teapot": "return {}, 418",
    "empty": "return {}, 205",
    "broken": 'raise LoaderError("No", 503, {"n": 1})',
    "defect": 'raise ValueError("secret")',
    "moved": 'raise redirect("/teapot")',
    "cookies": """
        draft = request.state.response
        draft.set_cookie("a", "1")
        draft.set_cookie("b", "2")
        draft.headers["cache-control"] = "public, max-age=60"
        return {}""",
    "framing": """
        request.state.response.headers["Server"] = "mine"
        request.state.response.headers["Connection"] = "close"
        return {}""",
    "large": 'return {"text": "x" * 200_000}',
    "deep/page": 'return {"text": "It repeats. " * 60}',
    "[name]/who": 'return {"name": request.path_params["name"]}',
}
ACTIONS = """
    @action
    async def echo(request):
        return await request.json()

    @action
    async def refuse(request):
        raise ValidationActionError(fields={"name": ["no"]})
    """

GETS = [
    *("/", "/?q=1&q=2", "/teapot", "/empty", "/broken", "/defect", "/moved", "/cookies"),
    *("/framing", "/large", "/ann/who", "/a%2Fb/who", "/nowhere", "/teapot/", "/healthz"),
    *("/deep/page", "/deep%2Fpage", "/%64eep/page", "/deep/page.md", "/deep%2Fpage.md"),
    *("/api/__csrf", "/api/nothing", "/index.md", "/llms.txt", "/api/__actions/index/echo"),
]
POSTS = [
    ("/api/__actions/index/echo", b'{"a": 1}'),
    ("/api/__actions/index/echo", b"{"),
    ("/api/__actions/index/refuse", b"{}"),
    ("/api/__actions/index/none", b"{}"),
    ("/teapot", b""),
]
ORIGIN = b"sec-fetch-site: same-origin\r\ncontent-type: application/json\r\n"


def requests() -> list[bytes]:
    """Return requests of all kinds, whole but for the empty line at the end of the head."""
    found = []
    for path in map(str.encode, GETS):
        for method in (b"GET", b"HEAD"):
            found.append(b"%b %b HTTP/1.1\r\nhost: a\r\n" % (method, path))
        found.append(b"GET %b HTTP/1.1\r\nhost: a\r\nx-fx-navigation: 1\r\n" % path)
        found.append(b"GET %b HTTP/1.1\r\nhost: a\r\naccept-encoding: gzip\r\n" % path)
        found.append(b"GET %b HTTP/1.1\r\nhost: a\r\ncookie: fx-csrf=x.y\r\n" % path)
        for more in (b"cookie: sid=1", b"authorization: Basic eA==", b"x-fx-navigation: 1"):
            line = b"accept-encoding: gzip\r\n" + more
            found.append(b"GET %b HTTP/1.1\r\nhost: a\r\n%b\r\n" % (path, line))
        found.append(b"GET %b HTTP/1.1\r\nhost: a\r\naccept: text/markdown\r\n" % path)
    found += [
        b"GET / HTTP/1.0\r\nhost: a\r\n",
        b"GET / HTTP/1.0\r\nhost: a\r\nconnection: keep-alive\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n",
        b"OPTIONS / HTTP/1.1\r\nhost: a\r\n",
        b"POST /api/__actions/index/echo HTTP/1.1\r\nhost: a\r\nsec-fetch-site: cross-site\r\n",
    ]
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {}
    for name, code in LOADERS.items():
        body = f"@server\nasync def load(request):\n    {code.strip()}\n"
        body = body.replace("\n        ", "\n    ")
        indented = "".join(f"    {line}\n" for line in body.splitlines())
        extra = ACTIONS if name == "index" else ""
        head = "    from fx.runtime import redirect\n\n" if "redirect" in code else ""
        files[f"pages/{name}.fxl"] = page("\n" + head + indented + extra)
    return write_tree(tmp_path, files)


def normal(data: bytes) -> bytes:
    """Return a response without what differs in each: its id, its nonce, its token, its time."""
    head, _, body = data.partition(b"\r\n\r\n")
    if b"content-encoding: gzip" in head:  # nonces are compressed to different lengths
        head, body = re.sub(rb"content-length: \d+", b"", head), gzip.decompress(body)
        head = b"\n".join(sorted(head.splitlines()))  # the coding is said before or behind others
    data = re.sub(rb"[0-9a-f]{32}", b"H", head + b"\n" + body)
    return re.sub(rb"date: [^\r]*", b"date", data)


class Switch:
    """Serves an app, and hides the extension from it where a header says so."""

    def __init__(self, app: App) -> None:
        self._app = app
        self.calls = 0
        """Whole responses that were sent in one call."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        stream = scope["extensions"][WHOLE_RESPONSE]
        if (b"x-messages", b"1") in scope["headers"]:
            del scope["extensions"][WHOLE_RESPONSE]
        await self._app(scope, receive, send)
        self.calls += WHOLE_RESPONSE in scope["extensions"] and "type" not in stream._start


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_every_kind_of_response_is_the_same_in_one_call_and_in_messages(
    project: Path,
) -> None:
    async with open_app(project, mode="production", llms={"enabled": True}) as client:
        switch = Switch(client.app)
        async with open_server(switch) as server:
            for request in requests():
                both = [
                    normal(await server.ask(request + b"x-messages: %d\r\n\r\n" % flag))
                    for flag in (0, 1)
                ]
                assert both[0] == both[1], request
            for path, body in POSTS:
                head = b"POST %b HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n" % (
                    path.encode(),
                    len(body),
                )
                both = [
                    normal(
                        await server.ask(head + ORIGIN + b"x-messages: %d\r\n\r\n%b" % (flag, body))
                    )
                    for flag in (0, 1)
                ]
                assert both[0] == both[1], (path, body)
    assert switch.calls > 50


async def test_an_encoded_slash_does_not_lead_to_what_has_a_name_with_a_slash(
    project: Path,
) -> None:
    (project / "pages/deep/page.fxl").write_text(page(ACTIONS))
    async with open_app(project, mode="production", llms={"enabled": True}) as client:
        for slash, status in (("/", 200), ("%2F", 404), ("%2f", 404)):
            page_response = await client.get(f"/deep{slash}page")
            markdown = await client.get(f"/deep{slash}page.md")
            action = await client.post(f"/api/__actions/deep{slash}page/echo", json={})
            statuses = [page_response.status_code, markdown.status_code, action.status_code]
            assert statuses == [status] * 3


async def test_a_file_of_the_public_folder_hides_a_page_and_its_markdown(project: Path) -> None:
    for name in ("teapot", "teapot.md"):
        (project / "public").mkdir(exist_ok=True)
        (project / "public" / name).write_text(f"the file {name}")
    async with open_app(project, mode="production", llms={"enabled": True}) as client:
        for name in ("teapot", "teapot.md"):
            assert (await client.get(f"/{name}")).text == f"the file {name}"


async def test_a_body_that_has_come_whole_is_taken_once() -> None:
    taken: list[object] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        stream = scope["extensions"][WHOLE_RESPONSE]
        most = int(dict(scope["headers"])[b"x-most"])
        if (b"x-first", b"1") in scope["headers"]:
            taken.append((await receive())["body"])
        taken.append(stream.take_body(most))
        if taken[-1] is None and (b"x-first", b"1") not in scope["headers"]:
            taken.append(await read_body(receive))
        taken.append(stream.take_body(most))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    head = b"POST / HTTP/1.1\r\nhost: a\r\nx-most: %d\r\n%b\r\n"
    length = b"content-length: 4\r\n"
    chunked = b"transfer-encoding: chunked\r\n"
    async with open_server(app) as server:
        for data, expected in (
            (head % (4, length) + b"abcd", [b"abcd", None]),
            (head % (4, b""), [b"", None]),
            (head % (4, chunked) + b"2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n", [b"abcd", None]),
            (head % (3, length) + b"abcd", [None, b"abcd", None]),
            (head % (4, length + b"x-first: 1\r\n") + b"abcd", [b"abcd", None, None]),
        ):
            taken.clear()
            await server.ask(data)
            assert taken == expected, data
        async with await server.connect() as client:  # of one that has not come whole, nothing
            taken.clear()
            await client.send(head % (4, length) + b"ab")
            await trio.testing.wait_all_tasks_blocked(0.05)
            await client.send(b"cd")
            await client.reply("POST")
            assert taken == [None, b"abcd", None]


def test_header_lines_are_left_to_the_server_where_they_frame_a_message() -> None:
    assert header_lines([(b"X-A", b"1"), (b"vary", b"x")]) == b"x-a: 1\r\nvary: x\r\n"
    for name in (b"Content-Length", b"transfer-encoding", b"connection", b"date", b"server"):
        assert header_lines([(name, b"1")]) is None


@pytest.mark.parametrize(
    "header", [(b"x", b"a\r\nb: c"), (b"x", b"a\n"), (b"x", b"\0"), (b"a b", b""), (b"", b"")]
)
def test_no_header_line_holds_another_one(header: tuple[bytes, bytes]) -> None:
    with pytest.raises(BadResponse):
        header_lines([header])


def test_a_response_that_has_begun_cannot_be_sent_whole() -> None:
    response = Response(keep_alive=True)
    response.start({"type": "http.response.start", "status": 200, "headers": []})
    with pytest.raises(BadResponse):
        response.encode_whole(200, (), b"", method="GET", version="1.1", common=b"")


def test_our_servers_call_a_wrapper_around_an_app() -> None:
    class Framework:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            raise NotImplementedError

        def serve_without_frame(self, scope: Any, receive: Any, send: Any) -> Any:
            raise NotImplementedError

    class Guarded(Framework):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            raise NotImplementedError

    class Around:
        def __getattr__(self, name: str) -> Any:
            return getattr(app, name)

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            raise NotImplementedError

    offer_without_frame(Framework.__call__, Framework.serve_without_frame)
    app, around, guarded = Framework(), Around(), Guarded()
    assert without_frame(around) is around
    assert without_frame(guarded) is guarded
    assert without_frame(app) == app.serve_without_frame
    Framework.__call__ = Guarded.__call__  # type: ignore[assignment,method-assign] # as agents do
    assert without_frame(app) is app


def test_the_app_offers_to_be_called_without_its_frame() -> None:
    app = Application.__new__(Application)
    assert without_frame(app) == app.serve_without_frame
