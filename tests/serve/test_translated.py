"""Messages of the framework in the language of a visitor, by a function of the app."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
import trio.testing
from starlette.types import Message

from fx.testing import Client, open_app
from fxtrio.serve.request.response.translated import TranslateInvalid
from tests.trees import page, write_tree

GERMAN = {"accept-language": "de"}

TEXTS = """
def translate(request, message):
    if message == "fail":
        raise KeyError(message)
    if message == "number":
        return 1
    if request.headers.get("accept-language") == "de":
        return f"[{message}]"
    return message


async def later(request, message):
    return message
"""
PAGE = """
    import attrs

    @attrs.frozen
    class Order:
        count: int

    @action
    async def order(request, body: Order):
        raise ActionError(request.query_params.get("why", "sold out"))
    """


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(
        tmp_path,
        {
            "texts.py": TEXTS,
            "fx.config.json": '{"translate": "texts:translate", "plugins": ["auth"]}',
            "pages/index.fxl": page(PAGE),
        },
    )


def visible(html: str) -> str:
    """Return the text of a document, without ids of requests."""
    html = re.sub(r"<(style|code)\b.*?</\1>", "", html, flags=re.DOTALL)
    return re.sub(r"<[^>]*>", "", html)


@pytest.fixture
async def client(root: Path) -> AsyncIterator[Client]:
    async with open_app(root) as client:
        yield client


async def test_messages_of_actions_and_fields_are_translated_for_who_asks(client: Client) -> None:
    url = "/api/__actions/index/order"

    invalid = await client.post(url, json={"count": "x"}, headers=GERMAN)
    own = await client.post(url, json={"count": 1}, headers=GERMAN)
    english = await client.post(url, json={"count": 1})

    assert invalid.json() == {
        "ok": False,
        "error": "[Validation failed]",
        "fields": {"count": ["[Expected a whole number]"]},
    }
    assert (own.json()["error"], english.json()["error"]) == ("[sold out]", "sold out")


async def test_error_pages_and_accounts_are_translated(client: Client) -> None:
    lost = await client.get("/nowhere", headers=GERMAN)
    away = await client.get("/nowhere", headers={**GERMAN, "x-fx-navigation": "1"})
    wrong = {"email": "a@example.org", "password": "not the one"}
    login = await client.post("/api/__auth/login", json=wrong, headers=GERMAN)

    assert "<p>[This page could not be found.]</p>" in lost.text
    assert re.sub(r"\[[^]]*\]|404|·|\s", "", visible(lost.text)) == ""
    assert "lang=" not in lost.text  # only the function knows it
    assert '<html lang="en">' in (await client.get("/nowhere")).text
    assert away.json()["error"] == "[This page could not be found.]"
    assert login.json()["error"] == "[The email address or the password is wrong.]"


async def test_the_client_recognizes_a_wrong_token_in_every_language(root: Path) -> None:
    async with open_app(root, csrf={"mode": "strict"}) as client:
        headers = {**GERMAN, "x-csrf-token": "of another session"}
        answer = await client.post("/api/__actions/index/order", json={}, headers=headers)

    assert (answer.status, answer.json()["code"]) == (403, "csrf_token")
    assert answer.json()["error"].startswith("[CSRF")


CACHED = """
    from fx.runtime import LoaderError, defer

    CACHE = {"revalidate": 300}

    async def gone():
        raise LoaderError("gone", 404)

    @server
    async def load(request):
        return {}
    """
OUTCOMES = {
    "raised": 'raise LoaderError("gone", 410)',
    "deferred": 'return {"later": defer(gone)}',
}


@pytest.mark.parametrize("outcome", [*OUTCOMES])
async def test_errors_of_cached_pages_are_translated_for_who_asks(root: Path, outcome: str) -> None:
    text = page(CACHED.replace("return {}", OUTCOMES[outcome]))
    write_tree(root, {"pages/bad.fxl": text, "pages/good.fxl": page(CACHED)})
    async with open_app(root, mode="production") as client:
        german = [await client.get("/bad", headers=GERMAN) for _ in range(2)]
        english = await client.get("/bad")
        again = await client.get("/bad", headers={**GERMAN, "x-fx-navigation": "1"})
        good = [await client.get("/good", headers=GERMAN) for _ in range(2)]

    assert ["[gone]" in one.text for one in [*german, again]] == [True] * 3
    assert "gone" in english.text and "[gone]" not in english.text
    assert good[1].headers["x-fx-cache"] == "hit"


async def test_a_translated_failure_keeps_the_cached_response(
    root: Path, autojump_clock: trio.testing.MockClock
) -> None:
    text = CACHED.replace(
        "return {}", "if FAILS: raise LoaderError('gone', 503)\n        return {}"
    )
    text = text.replace("    async def gone", "    FAILS = []\n\n    async def gone")
    text = text.replace("return {}", "FAILS.append(1)\n        return {}")
    write_tree(root, {"pages/late.fxl": page(text)})
    async with open_app(root, mode="production") as client:
        first = await client.get("/late", headers=GERMAN)
        await trio.sleep(301)
        stale = []
        for _ in range(3):
            stale.append(await client.get("/late", headers=GERMAN))
            await trio.sleep(1)

    assert first.status == 200
    assert [one.headers.get("x-fx-cache") for one in stale] == ["stale"] * 3


@pytest.mark.parametrize("why", ["fail", "number"])
async def test_a_function_that_fails_leaves_the_message_as_it_is(
    client: Client, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "fx.serve"):
        answer = await client.post(f"/api/__actions/index/order?why={why}", json={"count": 1})

    assert answer.json()["error"] == why
    assert "'translate'" in caplog.text


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("texts:missing", "which cannot be imported"),
        ("texts:TEXTS", "which cannot be imported"),
        ("texts:later", "which is not a function without async"),
    ],
)
async def test_what_cannot_translate_keeps_the_app_from_starting(
    root: Path, name: str, cause: str
) -> None:
    (root / "fx.config.json").write_text(f'{{"translate": "{name}"}}')
    with pytest.raises(TranslateInvalid, match=cause):
        async with open_app(root):
            pass


MIDDLEWARE = """
from starlette.exceptions import HTTPException


class Failing:
    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http" and b"fail" in scope["query_string"]:
            raise RuntimeError
        if scope["type"] == "http" and b"reject" in scope["query_string"]:
            raise HTTPException(409, "Too late.")
        await self.app(scope, receive, send)
"""
FAILED = "[An unexpected error occurred.]"


@pytest.mark.parametrize(
    ("url", "headers", "status", "error"),
    [
        ("/api/any?fail", {}, 500, FAILED),
        ("/?fail", {"x-fx-navigation": "1"}, 500, FAILED),
        ("/?fail", {}, 500, FAILED),
        ("/api/any?reject", {}, 409, "[Too late.]"),
        ("/api/mine", {}, 401, "[You are not signed in.]"),
    ],
)
async def test_errors_of_middleware_and_guards_are_translated(
    root: Path, url: str, headers: dict[str, str], status: int, error: str
) -> None:
    settings = {
        "translate": "texts:translate",
        "plugins": ["auth"],
        "middleware": ["failing_texts:Failing"],
        "routeMiddleware": {"apis": ["fxtrio.plugins.auth:require_user"]},
    }
    files = {"failing_texts.py": MIDDLEWARE, "pages/api/mine.py": "def get(request):\n    pass\n"}
    write_tree(root, {**files, "fx.config.json": json.dumps(settings)})
    async with open_app(root) as client:
        answer = await client.get(url, headers={**GERMAN, **headers})

    message = answer.text if url == "/?fail" and not headers else answer.json()["error"]
    assert (answer.status, error in message) == (status, True)


async def test_a_rejected_websocket_is_translated(client: Client) -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = client.scope("websocket", "/nowhere", GERMAN)
    await client.app({**scope, "extensions": {"websocket.http.response": {}}}, receive, send)

    assert json.loads(sent[1]["body"]) == {"ok": False, "error": "[Not found]"}
