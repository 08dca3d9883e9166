"""What a client gets of an action."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.contract.projects import open_pages
from tests.contract.rules import rule

PAGE = """
    from pydantic import BaseModel, Field

    class Signup(BaseModel):
        email: str = Field(min_length=3)
        tags: list[int] = []

    @action
    async def succeed(request):
        return {"id": 5, "tags": ["a"], "ok": False}

    @action
    async def nothing(request):
        return {}

    @action
    async def fail(request):
        raise ActionError("Sold out")

    @action
    async def sign_up(request, signup: Signup):
        if signup.email == "taken":
            raise ValidationActionError(fields={"email": ["is taken", "try another"]})
        raise ValidationActionError("Look again", fields={"tags.0": ["is odd"]})
"""


async def _post(root: Path, name: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
    async with open_pages(root, PAGE) as client:
        response = await client.post(f"/api/__actions/index/{name}", json=body or {})
    assert response.headers["content-type"] == "application/json"
    return response.status, response.json()


@rule("bodies.success")
async def test_bodies_success_has_ok_and_the_keys_of_the_dict(tmp_path: Path) -> None:
    assert await _post(tmp_path, "succeed") == (200, {"ok": True, "id": 5, "tags": ["a"]})
    assert await _post(tmp_path, "nothing") == (200, {"ok": True})


@rule("bodies.error")
async def test_bodies_error_has_the_message(tmp_path: Path) -> None:
    assert await _post(tmp_path, "fail") == (400, {"ok": False, "error": "Sold out"})


@rule("bodies.validation")
async def test_bodies_validation_of_a_body_has_the_default_message_and_fields(
    tmp_path: Path,
) -> None:
    status, body = await _post(tmp_path, "sign_up", {"email": "x", "tags": [1, "y"]})
    fields = body.pop("fields")
    assert (status, body) == (422, {"ok": False, "error": "Validation failed"})
    assert set(fields) == {"email", "tags.1"}
    assert all(isinstance(text, str) for messages in fields.values() for text in messages)
    assert all(isinstance(messages, list) and messages for messages in fields.values())


@rule("bodies.validation")
@pytest.mark.parametrize(
    ("email", "error", "fields"),
    [
        ("taken", "Validation failed", {"email": ["is taken", "try another"]}),
        ("free", "Look again", {"tags.0": ["is odd"]}),
    ],
)
async def test_bodies_validation_error_of_the_application_has_the_same_shape(
    tmp_path: Path, email: str, error: str, fields: dict[str, list[str]]
) -> None:
    answer = await _post(tmp_path, "sign_up", {"email": email})
    assert answer == (422, {"ok": False, "error": error, "fields": fields})


KEYWORD = """
    from pydantic import BaseModel

    class Entry(BaseModel):
        n: int

    @action
    async def keyword(request, *, entry: Entry):
        return {"n": entry.n}

    @action
    async def optional(request, *, entry: Entry | None = None):
        return {"none": entry is None}

    @action
    async def by_position(request, entry: Entry | None = None):
        return {"none": entry is None}
"""


@rule("action.4")
async def test_action_4_a_keyword_only_parameter_takes_the_body(tmp_path: Path) -> None:
    async with open_pages(tmp_path, KEYWORD) as client:
        assert (await client.action("/", "keyword", {"n": 5})).data == {"n": 5}
        assert (await client.action("/", "keyword", {"n": "x"})).status == 422
        assert (await client.action("/", "optional", {"n": 5})).data == {"none": False}
        form = await client.post("/api/__actions/index/keyword", data={"n": "5"})
        assert form.json() == {"ok": True, "n": 5}
        types = client.app.site.plans[0].inner.actions["keyword"].body
    assert types is not None


@rule("action.4")
@pytest.mark.parametrize("name", ["optional", "by_position"])
async def test_action_4_null_is_none_where_the_body_is_optional(tmp_path: Path, name: str) -> None:
    headers = {"content-type": "application/json"}
    url = f"/api/__actions/index/{name}"
    async with open_pages(tmp_path, KEYWORD) as client:
        empty = await client.post(url)
        null = await client.post(url, content=b"null", headers=headers)
        required = await client.post(
            "/api/__actions/index/keyword", content=b"null", headers=headers
        )
    assert (empty.json(), null.json()) == ({"ok": True, "none": True},) * 2
    assert required.status == 422
