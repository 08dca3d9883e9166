"""A document of the memo is what a render would have returned: headers, nonces and all."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fx.testing import Client, open_app
from fxtrio.ssr.frames import Rendered
from fxtrio.testing.responses import TestResponse
from tests.compression.decode import decoded
from tests.trees import page, write_tree

PAGE = """
    @server
    async def load(request):
        if "fail" in request.query_params:
            raise LoaderError("no", 404)
        request.state.response.headers["x-who"] = request.headers.get("x-who", "")
        return {"who": request.headers.get("x-who", "")}, int(request.headers.get("x-status", 200))
    """


class Renderer:
    """Renders the payload itself, with two nonces around it."""

    def __init__(self) -> None:
        self.payloads: list[bytes] = []

    async def render(self, view: int, payload: bytes) -> Rendered:
        self.payloads.append(payload)
        nonce = re.search(rb'"nonce":"([0-9a-f]+)"', payload)
        mark = nonce[1] if nonce else b""
        return Rendered(b'<style nonce="%b"></style>' % mark, b"<p>" + mark + payload + b"</p>")


def normal(response: TestResponse) -> tuple[object, ...]:
    headers = sorted(
        (name, re.sub("[0-9a-f]{32}", "N", value)) for name, value in response.headers.items()
    )
    return response.status_code, headers, re.sub("[0-9a-f]{32}", "N", response.text)


async def test_repeated_requests_get_what_they_would_without_the_memo(tmp_path: Path) -> None:
    root = write_tree(tmp_path, {"pages/index.fxl": page(PAGE), "pages/[name].fxl": page(PAGE)})
    requests: list[tuple[str, dict[str, str]]] = [
        ("/", {}),
        ("/", {"x-who": "ann"}),
        ("/", {"x-who": "ann", "x-status": "203"}),
        ("/?q=<script>", {"x-who": "ann"}),
        ("/ann", {"x-who": "ann"}),
        ("/a%2Fnn", {"x-who": "ann"}),
        ("/bob", {"x-who": "ann"}),
        ("/?fail", {}),
        ("/", {"x-fx-navigation": "1"}),
    ]
    answers: dict[bool, list[tuple[object, ...]]] = {}
    renders: dict[bool, int] = {}
    for memo in (True, False):
        renderer = Renderer()

        @asynccontextmanager
        async def opened(found: Renderer = renderer) -> AsyncIterator[Renderer]:
            yield found

        async with open_app(
            root, mode="production", open_renderer=opened, ssr={"memo": memo}
        ) as client:
            answers[memo] = [
                normal(await client.get(path, headers=headers))
                for _ in range(4)
                for path, headers in requests
            ]
        renders[memo] = len(renderer.payloads)
    assert answers[True] == answers[False]
    assert renders[True] * 3 < renders[False]


async def test_each_visitor_of_a_document_gets_nonces_of_his_own(tmp_path: Path) -> None:
    root = write_tree(tmp_path, {"pages/index.fxl": page(PAGE)})
    renderer = Renderer()

    @asynccontextmanager
    async def opened() -> AsyncIterator[Renderer]:
        yield renderer

    async with open_app(root, mode="production", open_renderer=opened, csp="enforce") as client:
        seen = set()
        for _ in range(5):
            response = await client.get("/")
            policy = re.search(
                "'nonce-([0-9a-f]{32})'", response.headers["content-security-policy"]
            )
            assert policy is not None
            assert response.text.count(policy[1]) == 4
            seen.add(policy[1])
        assert len(seen) == 5
        assert len(renderer.payloads) == 1


ENCODED = {"accept-encoding": "gzip, deflate, br, zstd"}
ENCODE = "fxtrio.compression.middleware.encode_whole"


@asynccontextmanager
async def opened(tmp_path: Path, **settings: Any) -> AsyncIterator[Client]:
    """Open an app whose pages are long enough to be compressed."""

    @asynccontextmanager
    async def open_renderer() -> AsyncIterator[Renderer]:
        yield Renderer()

    long = PAGE.replace('{"who":', '{"long": "All of it repeats. " * 40, "who":')
    root = write_tree(tmp_path, {"pages/index.fxl": page(long)})
    async with open_app(root, mode="production", open_renderer=open_renderer, **settings) as client:
        yield client


@pytest.mark.parametrize("csp", ["enforce", "off"])
async def test_a_document_that_is_requested_often_is_compressed_once_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, csp: str
) -> None:
    async with opened(tmp_path, csp=csp) as client:
        for _ in range(40):
            await client.get("/", headers=ENCODED)
        monkeypatch.setattr(ENCODE, None)
        seen = set()
        for _ in range(3):
            response = await client.get("/", headers=ENCODED)
            assert response.headers["content-encoding"] == "gzip"
            assert "accept-encoding" in response.headers["vary"]
            body = decoded("gzip", response.body).decode()
            seen.add(body)
            plain = await client.get("/")
            assert re.sub("[0-9a-f]{32}", "N", body) == re.sub("[0-9a-f]{32}", "N", plain.text)
        assert len(seen) == (1 if csp == "off" else 3)


async def test_what_may_be_a_visitors_own_is_not_compressed_from_a_document_either(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as client:
        for _ in range(40):
            await client.get("/", headers=ENCODED)
        for own in ({"cookie": "session=1"}, {"authorization": "Basic Zm8="}):
            client.cookies.clear()
            response = await client.get("/", headers={**ENCODED, **own})
            assert "content-encoding" not in response.headers
        client.cookies.clear()
        token = {"cookie": "fx-csrf=repeats"}  # the token of everybody, which the page repeats
        response = await client.get("/", headers={**ENCODED, **token})
        assert "content-encoding" not in response.headers
