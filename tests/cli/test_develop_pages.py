"""The entry module is added to HTML documents without it, and to nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import trio

from fxtrio.develop.report.request_logs import Records
from fxtrio.develop.serving.dev_app import DevelopedApp
from fxtrio.develop.vite.runtime_files import RuntimeFiles
from fxtrio.develop.vite.vite_proxy import Modules

URL = b"/app/_fx/@id/__x00__virtual:fx/client"
SCRIPT = b'<script type="module" src="%b"></script>' % URL


async def answer(
    headers: list[tuple[bytes, bytes]], *parts: bytes, method: str = "GET"
) -> tuple[dict[bytes, bytes], bytes]:
    """Return headers and body of a response that an app sends in ``parts``."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for number, part in enumerate(parts, 1):
            more = number < len(parts)
            await send({"type": "http.response.body", "body": part, "more_body": more})

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": method, "path": "/"}
    hot = Modules(Path("/"), Records(Path("/")), RuntimeFiles(Path("/"), "/app"))
    await DevelopedApp(app, hot=hot, base_url="/app")(scope, receive, send)
    start, *bodies = sent
    return dict(start["headers"]), b"".join(body["body"] for body in bodies)


async def test_html_gets_the_script_at_its_end_and_its_length_is_right() -> None:
    html = [(b"Content-Type", b"text/html; charset=utf-8"), (b"Content-Length", b"4")]

    headers, body = await answer(html, b"<p>!")

    assert body == b"<p>!" + SCRIPT
    assert headers[b"content-length"] == b"%d" % len(body)


async def test_a_document_says_when_it_was_requested_by_the_clock_that_node_reads() -> None:
    times: list[int] = []
    for _ in range(2):
        headers, _ = await answer([(b"content-type", b"text/html")], b"")
        found = re.search(rb'fx-asked;desc="(\d+)"', headers[b"server-timing"])
        assert found is not None
        times.append(int(found[1]))
        if len(times) == 1:
            node = ["node", "-p", "process.hrtime.bigint() / 1000000n"]
            done = await trio.run_process(node, capture_stdout=True)

    assert times[0] <= int(done.stdout.rstrip(b"n\n")) <= times[1]


async def test_a_document_in_parts_promises_no_length() -> None:
    html = [(b"Content-Type", b"text/html; charset=utf-8"), (b"Content-Length", b"4")]

    headers, body = await answer(html, b"<p>", b"!")

    assert body == b"<p>!" + SCRIPT
    assert b"content-length" not in headers


@pytest.mark.parametrize("name", [b"content-security-policy", b"Content-Security-Policy"])
async def test_the_script_has_the_nonce_of_the_page(name: bytes) -> None:
    policy = b"default-src 'self'; script-src 'nonce-aB3+/=' 'strict-dynamic'"

    _, body = await answer([(b"content-type", b"text/html"), (name, policy)], b"")

    assert b' nonce="aB3+/="></script>' in body


@pytest.mark.parametrize(
    ("headers", "method"),
    [
        ([(b"content-type", b"application/json")], "GET"),
        ([(b"content-type", b"text/html"), (b"content-encoding", b"gzip")], "GET"),
        ([(b"content-type", b"text/html")], "HEAD"),
        ([(b"content-type", b"text/html")], "POST"),
        ([], "GET"),
    ],
)
async def test_other_responses_stay_as_they_are(
    headers: list[tuple[bytes, bytes]], method: str
) -> None:
    assert await answer(headers, b"body", method=method) == (dict(headers), b"body")


async def test_a_document_that_has_it_stays_as_it_is() -> None:
    own = b'<script type="module" src="%b"></script><p>' % URL

    _, body = await answer([(b"content-type", b"text/html")], own, b"!")

    assert body == own + b"!"


async def test_a_stream_gets_it_at_its_end() -> None:
    _, body = await answer([(b"content-type", b"text/html")], b"<p>", b"a", b"b")

    assert body == b"<p>ab" + SCRIPT
