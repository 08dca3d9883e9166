"""The document says what the project takes and gives, and is valid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trio
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from openapi_spec_validator.schemas import schema_v31
from referencing.jsonschema import DRAFT202012

from fxtrio.cli import main
from fxtrio.config import load_config
from fxtrio.tools.openapi.describe import NotDescribed, describe, written
from tests.docs.pages import ROOT, Block, blocks, documents, name
from tests.openapi.odd import odd_project
from tests.short import amount
from tests.trees import page, write_tree

EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/fx.config.json"))
PROJECTS = [
    document
    for document in documents()
    if any("@action" in block.text and block.file.endswith(".fxl") for block in blocks(document))
]


SCHEMA = dict(schema_v31)


class Validator(OpenAPIV31SpecValidator):
    """Validates like that class, with a schema of OpenAPI in which anchors are looked for once.

    As the root of a validation it is searched at each of a hundred references to one.
    """

    schema_validator = Draft202012Validator(
        {"$ref": SCHEMA["$id"]},
        registry=REGISTRY.with_resource(SCHEMA["$id"], DRAFT202012.create_resource(SCHEMA)).crawl(),
    )


async def document_of(root: Path) -> dict[str, Any]:
    with trio.fail_after(60):
        found = (await describe(root, load_config(root))).document
    validate(found, cls=Validator)
    return found


@pytest.fixture(scope="module")
def odd_text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the document of a project of odd things, as JSON: making it takes a process."""
    return json.dumps(trio.run(document_of, odd_project(tmp_path_factory.mktemp("odd"))))


@pytest.fixture
def odd(odd_text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(odd_text)
    return found


@pytest.mark.parametrize("root", EXAMPLES, ids=lambda path: path.name)
async def test_examples_have_a_valid_document(root: Path) -> None:
    document = await document_of(root)
    assert document["openapi"] == "3.1.0"


@pytest.mark.parametrize("document", PROJECTS[:: amount(3, long=1)], ids=name)
async def test_documents_of_the_docs_are_valid(document: Path, tmp_path: Path) -> None:
    def write(block: Block) -> None:
        file = tmp_path / block.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text, encoding="utf-8")

    for block in blocks(document):
        if block.file:
            write(block)
    assert (await document_of(tmp_path))["paths"]


async def test_every_action_and_endpoint_has_its_paths(odd: dict[str, Any]) -> None:
    assert {(path, method) for path, item in odd["paths"].items() for method in item} == {
        ("/api/__actions/index/anything", "post"),
        ("/api/__actions/docs/anything", "post"),
        ("/api/__actions/docs/{path}/anything", "post"),
        ("/api/__actions/shop/{rest}/anything", "post"),
        ("/api/__actions/{team}/anything", "post"),
        ("/api/__actions/shop.orders.cancel", "post"),
        ("/api/__csrf", "get"),
        *((f"/api/__actions/shop/{{id}}/{one}", "post") for one in ACTIONS),
        *(("/api/any", method) for method in ("get", "post", "put", "patch", "delete")),
        *(("/api/notes", method) for method in ("get", "post", "delete")),
        *(("/api/things/{id}", method) for method in ("get", "put")),
    }
    names = [one["operationId"] for item in odd["paths"].values() for one in item.values()]
    assert len(names) == len(set(names)), "each operation has a name of its own"
    assert odd["info"] == {"title": odd["info"]["title"], "version": "1.2"}


async def test_an_action_of_a_module_is_described_like_one_of_a_page(odd: dict[str, Any]) -> None:
    operation = odd["paths"]["/api/__actions/shop.orders.cancel"]["post"]
    assert operation["operationId"] == "shop_orders_cancel"
    assert (operation["summary"], operation["tags"]) == ("Cancel an order.", ["shop.orders"])
    assert odd["components"]["schemas"]["CancellationInput"]["properties"] == {
        "order": {"type": "integer", "minimum": 1}
    }
    assert {"200", "403", "422"} <= operation["responses"].keys()


ACTIONS = ("place", "invite", "show", "leave", "adopt", "fail")


async def test_bodies_have_the_limits_of_their_fields(odd: dict[str, Any]) -> None:
    schemas = odd["components"]["schemas"]
    assert schemas["LineInput"] == {
        "type": "object",
        "properties": {
            "sku": {"type": "string", "pattern": "^(?:[A-Z]{3}[0-9]+)$"},
            "count": {"type": "integer", "minimum": 1, "exclusiveMaximum": 100},
        },
        "required": ["sku"],
    }
    order = schemas["OrderInput"]
    assert order["required"] == ["lines", "size", "price"]
    assert order["properties"] == {
        "lines": {
            "type": "array",
            "items": {"$ref": "#/components/schemas/LineInput"},
            "minItems": 1,
        },
        "size": {"type": "integer", "enum": [1, 2]},
        "price": {"anyOf": [{"type": "string", "format": "decimal"}, {"type": "number"}]},
        "day": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        "kind": {"type": "string", "enum": ["gift", "own"]},
        "stripped": {"type": "string"},
    }
    guest = schemas["GuestInput"]["properties"]
    assert guest["name"] == {
        "type": "string",
        "minLength": 1,
        "maxLength": 40,
        "description": "As on the door.",
    }
    assert guest["age"] == {"anyOf": [{"type": "integer", "minimum": 18}, {"type": "null"}]}
    assert guest["email"]["pattern"] == "^.+@.+$"


async def test_bodies_come_as_json_or_as_forms_where_these_can_hold_them(
    odd: dict[str, Any],
) -> None:
    def kinds(action: str) -> set[str]:
        operation = odd["paths"][f"/api/__actions/shop/{{id}}/{action}"]["post"]
        return set(operation["requestBody"]["content"])

    json_, form, parts = (
        "application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    )
    assert kinds("place") == {json_}, "a form has no lists of objects"
    assert kinds("invite") == {json_, form, parts}
    assert kinds("show") == {parts}, "only a form has files"
    assert kinds("leave") == {json_, form, parts}


async def test_a_model_that_refers_to_itself_and_one_without_a_schema_are_described(
    odd: dict[str, Any],
) -> None:
    schemas = odd["components"]["schemas"]
    pet = schemas["PetInput"]
    assert pet["required"] == ["petName"]
    assert pet["properties"]["petName"] == {"type": "string", "minLength": 2}


async def test_results_have_their_keys_beside_ok(odd: dict[str, Any]) -> None:
    def success(action: str) -> dict[str, Any]:
        operation = odd["paths"][f"/api/__actions/shop/{{id}}/{action}"]["post"]
        content = operation["responses"]["200"]["content"]["application/json"]
        schema: dict[str, Any] = content["schema"]
        return schema

    placed = success("place")
    assert placed["required"] == ["ok", "number", "lines"]
    assert placed["properties"]["ok"] == {"type": "boolean", "const": True}
    stays, goes = success("leave")["anyOf"]
    assert "redirect" not in stays["properties"] and goes["required"] == ["ok", "redirect"]
    counted, named = success("adopt")["anyOf"]
    assert (counted["required"], named["required"]) == (["ok", "count"], ["ok", "name"])
    operation = odd["paths"]["/api/__actions/shop/{id}/place"]["post"]
    assert operation["summary"] == "Place an order."
    assert operation["description"] == "It is delivered the next day."


async def test_nothing_is_reported_of_data_that_no_operation_has(tmp_path: Path) -> None:
    python = """
        import attrs

        @attrs.frozen
        class Secret:
            key: str

        @server
        async def load(request) -> Secret:
            return Secret("x")
    """
    root = write_tree(tmp_path, {"pages/index.fxl": page(python)})
    assert "Secret" not in written(await document_of(root))


@pytest.mark.parametrize(
    ("config", "required"),
    [("{}", False), ('{"csrf": {"mode": "strict"}}', True), ('{"csrf": false}', None)],
)
async def test_what_proves_the_origin_is_described(
    tmp_path: Path, config: str, required: bool | None
) -> None:
    document = await document_of(odd_project(tmp_path, config))
    headers = {
        (method, param["name"], param["required"])
        for item in document["paths"].values()
        for method, operation in item.items()
        for param in operation.get("parameters", ())
        if param["in"] == "header"
    }
    unsafe = {"post", "put", "patch", "delete"}
    expected = set() if required is None else {(one, "x-csrf-token", required) for one in unsafe}
    assert headers == expected
    assert ("/api/__csrf" in document["paths"]) == (required is not None)


async def test_paths_without_the_proof_need_no_token(tmp_path: Path) -> None:
    config = '{"baseUrl": "/app", "csrf": {"exemptPaths": ["/api/notes"]}}'
    document = await document_of(odd_project(tmp_path, config))
    assert document["servers"] == [{"url": "/app"}]
    assert "parameters" not in document["paths"]["/api/notes"]["post"]
    assert document["paths"]["/api/any"]["post"]["parameters"]


async def test_who_must_be_signed_in_is_described(tmp_path: Path) -> None:
    config = {
        "plugins": [{"name": "auth", "settings": {"publicPaths": ["/docs"], "cookieName": "me"}}],
        "routeMiddleware": {"pages": ["fxtrio.plugins.auth.require_user"]},
    }
    document = await document_of(odd_project(tmp_path, json.dumps(config)))
    paths = document["paths"]
    assert paths["/api/__actions/shop/{id}/place"]["post"]["security"] == [{"session": []}]
    assert "401" in paths["/api/__actions/shop/{id}/place"]["post"]["responses"]
    assert "security" not in paths["/api/__actions/docs/anything"]["post"], "it is public"
    assert "security" not in paths["/api/notes"]["post"], "no hook stands before it"
    assert document["components"]["securitySchemes"]["session"]["name"] == "me"


async def test_of_two_paths_that_look_alike_the_one_that_answers_is_described(
    tmp_path: Path,
) -> None:
    action = "@action\nasync def save(request):\n    return {}\n"
    files = {"pages/a/[id].fxl": page(action), "pages/a/[...rest].fxl": page(action)}
    root = write_tree(tmp_path, files)
    with trio.fail_after(60):
        found = await describe(root, load_config(root))
    assert "/api/__actions/a/{id}/save" in found.document["paths"]
    assert found.left_out == ("pages/a/[...rest].fxl: POST /api/__actions/a/{rest}/save",)


async def test_equal_projects_have_equal_documents(tmp_path: Path) -> None:
    roots = [odd_project(tmp_path / folder) for folder in ("shop", "more/shop")]
    with trio.fail_after(60):
        one, other = [await describe(root, load_config(root)) for root in roots]
    assert written(one.document) == written(other.document)


async def test_a_project_that_cannot_be_imported_says_where(tmp_path: Path) -> None:
    root = write_tree(tmp_path, {"pages/index.fxl": page("1 / 0\n")})
    with trio.fail_after(60), pytest.raises(NotDescribed, match=r"pages/index\.fxl.*division"):
        await describe(root, load_config(root))
    root = write_tree(tmp_path, {"pages/index.fxl": page("def f(:\n")})
    with trio.fail_after(60), pytest.raises(NotDescribed, match=r"pages/index\.fxl:1:"):
        await describe(root, load_config(root))


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("import nowhere\n", "there is no module 'nowhere'"),
        ("import sys\nsys.exit('no')\n", "it exits the process with 'no'"),
        ("import os\nos._exit(3)\n", "importing it ended the process with 3"),
        ("def f(:\n", "invalid syntax"),
    ],
)
@pytest.mark.parametrize("command", ["openapi", "build"])
def test_commands_say_what_keeps_a_project_from_a_document(
    command: str, text: str, cause: str, tmp_path: Path
) -> None:
    settings = '{"openapi": true}'
    files = {"pages/index.fxl": page("import helper"), "fx.config.json": settings}
    write_tree(tmp_path, {**files, "helper.py": text})
    result = CliRunner().invoke(main, [command, "--root", str(tmp_path)])
    assert result.exit_code == 1
    error = result.output.rpartition("error ")[2]
    assert cause in error
    assert "fx check" not in error


def test_the_command_writes_a_file_or_the_standard_output(tmp_path: Path) -> None:
    odd_project(tmp_path)
    run = CliRunner().invoke
    printed = run(main, ["openapi", "--root", str(tmp_path)])
    file = tmp_path / "api.json"
    to_file = run(main, ["openapi", "--root", str(tmp_path), "--output", str(file)])
    assert (printed.exit_code, to_file.exit_code) == (0, 0)
    assert printed.stdout == file.read_text("utf-8")
    assert json.loads(printed.stdout)["openapi"] == "3.1.0"
    assert "operations in " in to_file.stdout


async def test_an_action_that_streams_answers_with_events(tmp_path: Path) -> None:
    action = """
    from collections.abc import AsyncIterator

    @action
    async def count(request) -> AsyncIterator[int]:
        yield 1
    """
    found = await document_of(write_tree(tmp_path, {"pages/index.fxl": page(action)}))
    success = found["paths"]["/api/__actions/index/count"]["post"]["responses"]["200"]
    assert success["content"] == {"text/event-stream": {"schema": {"type": "integer"}}}


async def test_a_stream_is_read_with_its_query_and_the_last_id(tmp_path: Path) -> None:
    stream = """
    from collections.abc import AsyncIterator

    import attrs
    from fx.realtime import Event, Missed

    @attrs.frozen
    class Query:
        room: int
        old: bool = False

    @stream
    async def feed(request, query: Query, after: str | None) -> AsyncIterator[Event[str] | Missed]:
        '''Read a room.'''
        yield Event("a", None)
    """
    found = await document_of(write_tree(tmp_path, {"pages/rooms/[id].fxl": page(stream)}))
    operation = found["paths"]["/api/__streams/rooms/{id}/feed"]["get"]
    assert operation["summary"] == "Read a room."
    parameters = [(one["in"], one["name"], one.get("required")) for one in operation["parameters"]]
    assert parameters == [
        ("path", "id", True),
        ("header", "Last-Event-ID", None),
        ("query", "room", True),
        ("query", "old", False),
    ]
    content = operation["responses"]["200"]["content"]
    assert content == {"text/event-stream": {"schema": {"type": "string"}}}
