"""What a function returns that it should not is said in one line, with its place."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from fx.testing import open_app
from tests.trees import page, write_tree

PAGE = """
async def find():
    return {}

def HEAD(data):
    return data.get("head")

@server
async def load(request):
    kind = request.query_params.get("kind")
    if kind == "head":
        return {"head": 3}
    if kind == "heads":
        return {"head": ["<title>x</title>", None]}
    return find() if kind == "whole" else {"a": [1, find()], "b": find()}

@action
async def nothing(request):
    pass

@action
async def forgetful(request):
    return find()

@action
async def deep(request):
    return {"found": find()}
"""


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("whole", "pages/index.fxl: load(): returned the coroutine find(). Was 'await' forgotten?"),
        (
            "part",
            "pages/index.fxl: load(): the value at 'a[1]' is the coroutine find(). "
            "Was 'await' forgotten?",
        ),
        (
            "head",
            "pages/index.fxl:4: HEAD(): returned 3 (int). "
            "Return a str of HTML, a list of them, or None.",
        ),
        (
            "heads",
            "pages/index.fxl:4: HEAD(): returned ['<title>x</title>', None] (list). "
            "Return a str of HTML, a list of them, or None.",
        ),
    ],
)
async def test_what_a_page_cannot_use_is_one_line_in_the_log_and_on_the_page(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str, message: str
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(PAGE)})
    async with open_app(tmp_path) as client:
        response = await client.get(f"/?kind={kind}")

    assert response.status == 500
    assert "Traceback" not in response.text
    assert [_formatted(record) for record in caplog.records] == [message]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("nothing", "nothing(): returned None (NoneType). Return a dict."),
        ("forgetful", "forgetful(): returned the coroutine find(). Was 'await' forgotten?"),
        (
            "deep",
            "deep(): the value at 'found' is the coroutine find(). Was 'await' forgotten?",
        ),
    ],
)
async def test_what_an_action_must_not_return_is_one_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, action: str, message: str
) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(PAGE)})
    async with open_app(tmp_path) as client:
        called = await client.action("/", action, {})

    assert called.status == 500
    assert [_formatted(record) for record in caplog.records] == [f"pages/index.fxl: {message}"]


def _formatted(record: logging.LogRecord) -> str:
    """Return all that a handler writes of a record."""
    return logging.Formatter("%(message)s").format(record)
