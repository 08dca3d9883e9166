"""Responses in the coding that a client takes, and those that are left as they are."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fx.testing import Client, open_app
from fxtrio.compression.codings import encode_whole
from fxtrio.ssr.frames import Rendered
from fxtrio.testing.responses import TestResponse
from tests.compression.decode import decoded
from tests.trees import page, write_tree

LONG = "All of it is text that repeats itself. " * 40
ALL = {"accept-encoding": "gzip, deflate, br, zstd"}
NAVIGATION = {"x-fx-navigation": "1"}
ENCODE = "fxtrio.compression.middleware.encode_whole"

PLAIN = f"""
    @server
    async def load(request):
        return {{"message": {LONG!r}, "q": request.query_params.get("q", "")}}
    """

ANSWERS = f"""
    from starlette.responses import Response, StreamingResponse

    LONG = {LONG!r}


    async def get(request):
        return {{"text": LONG}}


    async def post(request):
        made = await request.json()
        return Response(made.get("body", LONG), made.get("status", 200), made["headers"])
    """


def opened(root: Path, python: str = PLAIN, **settings: Any) -> AbstractAsyncContextManager[Client]:
    files = {"pages/index.fxl": page(python), "pages/api/answer.py": ANSWERS}
    settings.setdefault("mode", "production")
    return open_app(write_tree(root, files), **settings)


def coding(response: TestResponse) -> str | None:
    """Return the coding of a response, after a look at all that goes with it."""
    found = response.headers.get("content-encoding")
    if found is not None:
        assert "accept-encoding" in response.headers["vary"]
        assert response.headers.getlist("content-length") == [str(len(response.body))]
    return found


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, br", "br"),
        ("gzip;q=0.8, br;q=0.2", "gzip"),
        ("identity", None),
        ("deflate", None),
        ("", None),
    ],
)
async def test_a_page_is_in_the_coding_that_is_wanted(
    tmp_path: Path, header: str, expected: str | None
) -> None:
    async with opened(tmp_path) as client:
        plain = await client.get("/", headers=NAVIGATION)
        found = await client.get("/", headers={**NAVIGATION, "accept-encoding": header})
    assert coding(found) == expected
    assert decoded(expected, found.body) == plain.body
    assert found.headers["vary"] == plain.headers["vary"] == "x-fx-navigation, accept-encoding"
    assert (len(found.body) < len(plain.body) / 3) is (expected is not None)


async def test_small_bodies_are_left_as_they_are(tmp_path: Path) -> None:
    short = "@server\nasync def load(request):\n    return {}\n"
    async with opened(tmp_path, short) as client:
        left = await client.get("/", headers={**NAVIGATION, **ALL})
        wanted = await client.get(
            "/", headers={**NAVIGATION, "accept-encoding": "gzip, identity;q=0"}
        )
    assert (coding(left), coding(wanted)) == (None, "gzip")
    assert decoded("gzip", wanted.body) == left.body


async def test_what_belongs_to_one_visitor_is_left_as_it_is_unless_all_is_compressed(
    tmp_path: Path,
) -> None:
    theirs: list[dict[str, str]] = [
        {"cookie": "session=1"},
        {"cookie": "fx-csrf=a.b; theme=dark"},
        {"authorization": "Basic Zm8="},
    ]
    async with opened(tmp_path) as client:
        for headers in theirs:
            client.cookies.clear()
            assert coding(await client.get("/", headers={**headers, **ALL})) is None
    async with opened(tmp_path, compression="all") as client:
        for headers in theirs:
            client.cookies.clear()
            assert coding(await client.get("/", headers={**headers, **ALL})) == "zstd"


async def test_the_token_cookie_is_everybodys_until_a_page_repeats_it(tmp_path: Path) -> None:
    python = PLAIN.replace('"q":', '"token": request.cookies.get("fx-csrf", "none"), "q":')
    async with opened(tmp_path, PLAIN) as client:
        first = await client.get("/", headers=ALL)
        again = await client.get("/", headers=ALL)
        assert client.cookies["fx-csrf"]
    async with opened(tmp_path, python) as client:
        before = await client.get("/", headers=ALL)
        repeats = await client.get("/", headers=ALL)
        assert client.cookies["fx-csrf"].encode() in repeats.body
    assert [coding(each) for each in (first, again, before, repeats)] == ["zstd"] * 3 + [None]


async def test_a_response_that_sets_a_cookie_is_left_as_it_is(tmp_path: Path) -> None:
    python = PLAIN.replace(
        "        return", '        request.state.response.set_cookie("cart", "1")\n        return'
    )
    async with opened(tmp_path, python) as client:
        assert coding(await client.get("/", headers=ALL)) is None


async def test_a_response_for_shared_caches_is_compressed_for_everybody(tmp_path: Path) -> None:
    policy = 'request.state.response.headers["cache-control"] = "public, max-age=60"'
    python = PLAIN.replace("        return", f"        {policy}\n        return")
    async with opened(tmp_path, python) as client:
        found = await client.get("/", headers={"cookie": "session=1", **ALL})
        payload = await client.get("/", headers={"cookie": "session=1", **ALL, **NAVIGATION})
    assert coding(found) == "zstd"
    assert coding(payload) is None  # no shared cache may keep this form


async def test_off_is_off(tmp_path: Path) -> None:
    async with opened(tmp_path, compression="off") as client:
        found = await client.get("/", headers=ALL)
    assert coding(found) is None
    assert found.headers["vary"] == "x-fx-navigation"


@pytest.mark.parametrize("form", [{}, NAVIGATION])
async def test_head_has_the_headers_of_get(tmp_path: Path, form: dict[str, str]) -> None:
    async with opened(tmp_path, csrf=False) as client:
        get = await client.get("/", headers={**form, **ALL})
        head = await client.request("HEAD", "/", headers={**form, **ALL})
    own = {"content-length", "x-request-id", "content-security-policy-report-only"}
    assert {name: head.headers[name] for name in head.headers if name not in own} == {
        name: get.headers[name] for name in get.headers if name not in own
    }
    assert head.headers["content-encoding"] == "zstd"
    assert "content-length" not in head.headers
    assert head.body == b""


async def answer(client: Client, **response: Any) -> TestResponse:
    response.setdefault("headers", {"content-type": "text/plain"})
    return await client.post("/api/answer", json=response, headers=ALL)


async def test_endpoints_are_compressed_and_their_strong_etags_weakened(tmp_path: Path) -> None:
    headers = {"content-type": "text/plain", "etag": '"v1"', "vary": "Cookie"}
    async with opened(tmp_path) as client:
        found = await answer(client, headers=headers)
        weak = await answer(client, headers={**headers, "etag": 'W/"v1"', "vary": "*"})
        json = await client.get("/api/answer", headers=ALL)
    assert coding(found) == coding(json) == "zstd"
    assert decoded("zstd", found.body).decode() == LONG
    assert (found.headers["etag"], found.headers["vary"]) == ('W/"v1"', "Cookie, accept-encoding")
    assert (weak.headers["etag"], weak.headers["vary"]) == ('W/"v1"', "*")


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "image/png"},
        {"content-type": "text/plain", "content-encoding": "gzip"},
        {"content-type": "text/plain", "cache-control": "public, no-transform"},
        {"content-type": "text/plain", "repr-digest": "sha-256=:AA==:"},
        {},
    ],
)
async def test_what_must_stay_as_it_is_stays(tmp_path: Path, headers: dict[str, str]) -> None:
    async with opened(tmp_path) as client:
        found = await answer(client, headers=headers)
    assert found.body.decode() == LONG
    assert found.headers.get("content-encoding") == headers.get("content-encoding")


@pytest.mark.parametrize("status", [204, 206, 304])
async def test_statuses_without_a_whole_body_are_left_alone(tmp_path: Path, status: int) -> None:
    headers = {"content-type": "text/plain", "etag": '"v1"'}
    body = LONG if status == 206 else ""
    async with opened(tmp_path) as client:
        found = await answer(client, status=status, body=body, headers=headers)
    assert (found.status, found.body.decode()) == (status, body)
    assert found.headers["etag"] == '"v1"'
    assert "content-encoding" not in found.headers


async def test_what_an_event_stream_sends_can_be_read_at_once(tmp_path: Path) -> None:
    go = trio.Event()

    async def events(request: Any) -> Response:
        async def send() -> AsyncIterator[bytes]:
            yield b"data: first\n\n"
            await go.wait()
            yield b"data: second\n\n"

        return StreamingResponse(send(), media_type="text/event-stream")

    async with opened(tmp_path) as client:
        client.app.add_route("/events", events)
        for name, header in {"br": "br", "zstd": "zstd", "gzip": "gzip"}.items():
            go = trio.Event()
            async with client.stream("GET", "/events", headers={"accept-encoding": header}) as got:
                assert got.headers["content-encoding"] == name
                chunks = aiter(got)
                read = _Reader(name)
                text = b""
                with trio.fail_after(5):
                    while b"first" not in text:
                        text += read(await anext(chunks))
                    go.set()
                    async for chunk in chunks:
                        text += read(chunk)
            assert text == b"data: first\n\ndata: second\n\n"


async def test_only_so_many_bodies_are_compressed_part_by_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fxtrio.compression.middleware.MOST_OPEN", 2)

    async def events(request: Any) -> Response:
        async def send() -> AsyncIterator[bytes]:
            yield b"data: first\n\n"
            await trio.sleep_forever()

        return StreamingResponse(send(), media_type="text/event-stream")

    async with opened(tmp_path) as client:
        client.app.add_route("/events", events)
        for _ in range(2):  # those that have ended make room
            async with AsyncExitStack() as opening:
                codings, varying = [], []
                for _ in range(4):
                    stream = client.stream("GET", "/events", headers=ALL)
                    got = await opening.enter_async_context(stream)
                    codings.append(got.headers.get("content-encoding"))
                    varying.append(got.headers["vary"])
                assert codings == ["zstd", "zstd", None, None]
                assert {"accept-encoding"} == set(varying)
            gc.collect()


class _Reader:
    """Decodes what has come so far."""

    def __init__(self, coding: str) -> None:
        import zlib

        import brotli
        import zstandard

        self.read = {
            "br": lambda: brotli.Decompressor().process,
            "zstd": lambda: zstandard.ZstdDecompressor().decompressobj().decompress,
            "gzip": lambda: zlib.decompressobj(wbits=31).decompress,
        }[coding]()

    def __call__(self, chunk: bytes) -> bytes:
        return bytes(self.read(chunk)) if chunk else b""


async def test_large_bodies_are_encoded_in_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside: list[bool] = []

    def watched(*args: Any) -> bytes:
        try:
            trio.lowlevel.current_task()
        except RuntimeError:
            inside.append(False)
        else:
            inside.append(True)
        return encode_whole(*args)

    monkeypatch.setattr(ENCODE, watched)
    async with opened(tmp_path) as client:
        small = await answer(client, body="x" * 60_000)
        large = await answer(client, body="x" * 600_000)
    assert inside == [True, False]
    assert len(decoded("zstd", small.body)) == 60_000
    assert len(decoded("zstd", large.body)) == 600_000


class Louder:
    """Middleware that reads and changes bodies."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def changed(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": message["body"].replace(b"text", b"TEXT")}
            await send(message)

        await self.app(scope, receive, changed if scope["type"] == "http" else send)


CACHED = f"""
    CACHE = {{"revalidate": 60}}

    @server
    async def load(request):
        return {{"message": {LONG!r}}}
    """


class Scripted:
    """Renders a script with its nonce."""

    async def render(self, view: int, payload: bytes) -> Rendered:
        nonce = payload.split(b'"nonce":"')[1].split(b'"')[0] if b'"nonce"' in payload else b""
        return Rendered(b"", b'<script nonce="%b">1</script>' % nonce + LONG.encode())


@asynccontextmanager
async def open_renderer() -> AsyncIterator[Scripted]:
    yield Scripted()


@pytest.mark.parametrize("csp", ["report-only", "off"])
@pytest.mark.parametrize("form", [{}, NAVIGATION])
async def test_cached_responses_are_compressed_once_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, csp: str, form: dict[str, str]
) -> None:
    async with opened(tmp_path, CACHED, csp=csp, open_renderer=open_renderer) as client:
        await client.get("/", headers=form)
        monkeypatch.setattr(ENCODE, None)  # a hit has nothing to encode
        bodies = []
        for _ in range(2):
            headers = {**form, **ALL, "cookie": "session=1"}
            found = await client.get("/", headers=headers)
            assert found.headers["x-fx-cache"] == "hit"
            assert coding(found) == "gzip"
            bodies.append(decoded("gzip", found.body))
            if csp != "off" and not form:
                policy = found.headers["content-security-policy-report-only"]
                nonce = policy.split("'nonce-")[1].split("'")[0].encode()
                assert b'nonce="%b"' % nonce in bodies[-1]
                assert b'"nonce":"%b"' % nonce in bodies[-1]
        same = await client.get(
            "/", headers={**ALL, **form, "if-none-match": found.headers["etag"]}
        )
        plain = await client.get("/", headers=form)
    assert (same.status, same.body) == (304, b"")
    assert same.headers["vary"] == found.headers["vary"]
    assert len(plain.body) == len(bodies[0])
    assert (bodies[0] == bodies[1]) is (csp == "off" or bool(form))


async def test_a_cached_response_is_encoded_again_without_gzip(tmp_path: Path) -> None:
    async with opened(tmp_path, CACHED) as client:
        plain = await client.get("/", headers=NAVIGATION)
        found = await client.get("/", headers={**NAVIGATION, "accept-encoding": "br"})
        head = await client.request("HEAD", "/", headers={**NAVIGATION, **ALL})
    assert coding(found) == "br"
    assert decoded("br", found.body) == plain.body
    assert head.headers["content-encoding"] == "gzip"


async def test_middleware_sees_bodies_as_they_are(tmp_path: Path) -> None:
    async with opened(tmp_path, CACHED, middleware=[f"{__name__}.Louder"]) as client:
        await client.get("/", headers=NAVIGATION)
        anonymous = await client.get("/", headers={**NAVIGATION, **ALL})
        personal = await client.get("/", headers={**NAVIGATION, **ALL, "cookie": "session=1"})
    assert anonymous.headers["x-fx-cache"] == personal.headers["x-fx-cache"] == "hit"
    # What the middleware has put in may be this visitor's own.
    assert (coding(anonymous), coding(personal)) == ("gzip", None)
    assert b"TEXT" in decoded("gzip", anonymous.body) and b"TEXT" in personal.body


async def test_nothing_is_compressed_in_development(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page("")})
    async with open_app(tmp_path, mode="development", compression="all") as client:
        answer = await client.get("/", headers={"accept-encoding": "gzip, br, zstd"})
    assert "content-encoding" not in answer.headers
    assert len(answer.text) > 500
