"""What the runtime answers is what the document says of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import trio

from fx.testing import Client, open_app
from fxtrio.config import load_config
from fxtrio.tools.openapi.describe import describe
from tests.openapi.odd import odd_project

SHOP = "/api/__actions/shop/{id}"
ORDER = {"lines": [{"sku": "AB1"}], "size": 1, "price": "2.50"}
GOOD = {**ORDER, "lines": [{"sku": "ABC1", "count": 2}]}


@pytest.fixture
async def root(tmp_path: Path) -> Path:
    return odd_project(tmp_path)


@pytest.fixture(scope="module")
def document_text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the document as JSON: making it takes a process."""

    async def make() -> dict[str, Any]:
        root = odd_project(tmp_path_factory.mktemp("odd"))
        with trio.fail_after(60):
            return (await describe(root, load_config(root))).document

    return json.dumps(trio.run(make))


@pytest.fixture
def document(document_text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(document_text)
    return found


@pytest.fixture
async def client(root: Path) -> AsyncIterator[Client]:
    async with open_app(root, mode="production", limits={"body": 2000}) as client:
        yield client


def schema_of(document: dict[str, Any], path: str, method: str, status: int) -> Any:
    """Return the schema of an answer, which must be written down by itself."""
    answer = document["paths"][path][method]["responses"][str(status)]
    if "$ref" in answer:
        answer = document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    schema = answer["content"]["application/json"]["schema"]
    return {**schema, "components": document["components"]}


@pytest.mark.parametrize(
    ("action", "body", "status"),
    [
        ("place", {"json": GOOD}, 200),
        ("place", {"json": ORDER}, 422),
        ("place", {"content": b"{", "headers": {"content-type": "application/json"}}, 422),
        ("place", {}, 422),
        ("place", {"content": b"x", "headers": {"content-type": "text/plain"}}, 415),
        ("place", {"json": {"x": "y" * 3000}}, 413),
        ("place", {"json": GOOD, "headers": {"sec-fetch-site": "cross-site"}}, 403),
        ("invite", {"json": {"name": "A", "email": "a@b"}}, 200),
        ("invite", {"data": {"name": "A", "email": "a@b", "age": "18"}}, 200),
        ("invite", {"data": {"name": "", "email": "a@b", "age": "18"}}, 422),
        ("adopt", {"json": {"petName": "Rex", "young": [{"petName": "Max"}]}}, 200),
        ("adopt", {"json": {"petName": "Rex"}}, 200),
        ("leave", {}, 200),
        ("fail", {}, 500),
    ],
)
async def test_responses_of_actions_match_the_document(
    client: Client, document: dict[str, Any], action: str, body: dict[str, Any], status: int
) -> None:
    answer = await client.request("POST", f"{SHOP.format(id=1)}/{action}", **body)

    assert answer.status_code == status, answer.text
    jsonschema.validate(answer.json(), schema_of(document, f"{SHOP}/{action}", "post", status))


async def test_a_body_that_fits_is_taken_and_one_that_does_not_is_rejected(
    client: Client, document: dict[str, Any]
) -> None:
    operation = document["paths"][f"{SHOP}/place"]["post"]
    [media] = operation["requestBody"]["content"].values()
    schema = {**media["schema"], "components": document["components"]}
    bodies: list[dict[str, Any]] = [GOOD, ORDER, {**GOOD, "size": 3}, {**GOOD, "kind": "none"}]
    bodies += [{**GOOD, "lines": []}, {**GOOD, "lines": [{"sku": "ABC1", "count": 100}]}, {}]
    for body in bodies:
        answer = await client.request("POST", f"{SHOP.format(id=1)}/place", json=body)
        fits = jsonschema.Draft202012Validator(schema).is_valid(body)
        assert fits == (answer.status_code == 200), (body, answer.text)


async def test_keys_that_a_model_forbids_are_forbidden_in_the_document(
    client: Client, document: dict[str, Any]
) -> None:
    body = {"name": "A", "email": "a@b", "more": 1}
    answer = await client.request("POST", f"{SHOP.format(id=1)}/invite", json=body)
    content = document["paths"][f"{SHOP}/invite"]["post"]["requestBody"]["content"]

    assert answer.status_code == 422
    for media in content.values():
        schema = {**media["schema"], "components": document["components"]}
        assert not jsonschema.Draft202012Validator(schema).is_valid(body)
        assert jsonschema.Draft202012Validator(schema).is_valid({"name": "A", "email": "a@b"})


async def test_unknown_actions_and_pages_are_rejected_as_documented(
    client: Client, document: dict[str, Any]
) -> None:
    answer = await client.request("POST", "/api/__actions/nowhere/at/all/place", json={})
    assert answer.status_code == 404
    jsonschema.validate(answer.json(), schema_of(document, f"{SHOP}/place", "post", 404))


async def test_responses_of_endpoints_match_the_document(
    client: Client, document: dict[str, Any]
) -> None:
    written = await client.request("POST", "/api/notes", json={"text": "a"})
    listed = await client.request("GET", "/api/notes")
    assert (written.status_code, listed.json()) == (201, [{"text": "a"}])
    jsonschema.validate(listed.json(), schema_of(document, "/api/notes", "get", 200))
    jsonschema.validate(written.json(), schema_of(document, "/api/notes", "post", 200))
    broken = await client.request("POST", "/api/notes", content=b"{")
    assert broken.status_code == 400
    jsonschema.validate(broken.json(), schema_of(document, "/api/notes", "post", 400))
