"""Bodies of actions that are large, odd, or expensive to read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path
from typing import Any

import attrs
import pytest
from attrs import validators
from trio.testing import wait_all_tasks_blocked

from fx.testing import Client, open_app
from fxtrio.errors import ValidationActionError
from fxtrio.serve.request.bodies.json_body import DEEPEST, MOST_MEMBERS
from fxtrio.serve.request.model.bounded_structuring import MOST
from fxtrio.serve.request.model.validate import body_model
from tests.trees import page, write_tree

PAGE = """
    import attrs
    from pydantic import BaseModel

    @attrs.frozen
    class Line:
        price: int

    @attrs.frozen
    class Order:
        lines: list[Line] = []
        names: set[str] = frozenset()
        stock: dict[str, int] = {}
        grid: list[list[int]] = []
        pair: tuple[int, str] = (0, "")
        rest: tuple[int, ...] = ()

    class Basket(BaseModel):
        prices: list[int]

    @action
    async def order(request, order: Order):
        return {"order": order}

    @action
    async def basket(request, basket: Basket):
        return {}

    kept = []

    async def keep(file):
        kept.append((await file.read()).decode())

    @action
    async def send(request):
        file = (await request.form())["cv"]
        kept.append(file)
        request.state.background.add_task(keep, file)
        return {"closed": file.file.closed}

    @action
    async def sent(request):
        return {"read": kept[1], "closed": kept[0].file.closed}

    @action
    async def read(request):
        return {"kind": type(await request.json()).__name__}
    """
ACTIONS = "/api/__actions/index/"


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    write_tree(tmp_path, {"pages/index.fxl": page(PAGE)})
    async with open_app(tmp_path) as opened:
        yield opened


async def test_collections_of_a_typed_body_become_what_they_are_annotated_as(
    client: Client,
) -> None:
    body = {
        "lines": [{"price": 1}],
        "names": ["a", "a"],
        "stock": {"pen": 2},
        "grid": [[1], []],
        "pair": [1, "x"],
        "rest": [1, 2],
    }
    response = await client.post(f"{ACTIONS}order", json=body)
    assert response.json() == {"ok": True, "order": {**body, "names": ["a"]}}


@pytest.mark.parametrize(
    ("body", "most"),
    [
        ({"lines": [0] * 10_000}, MOST),
        ({"lines": [{}] * 10_000}, MOST),
        ({"stock": dict.fromkeys(map(str, range(10_000)), "x")}, MOST),
        ({"grid": [[""] * 300] * 300}, MOST),
        ({"rest": [""] * 10_000}, MOST),
    ],
)
async def test_only_the_first_problems_of_a_body_are_looked_for(
    client: Client, body: dict[str, Any], most: int
) -> None:
    response = await client.post(f"{ACTIONS}order", json=body)
    assert response.status == 422
    assert len(response.json()["fields"]) == most


def test_a_list_stops_at_its_last_problem_that_is_reported() -> None:
    validated: list[object] = []

    class Watched:
        """Counts how often it is looked at."""

        def __int__(self) -> int:
            raise AssertionError("a value of JSON is never converted")

    def count(instance: object, field: object, value: object) -> None:
        validated.append(value)
        raise ValueError("never")

    line = attrs.make_class("Line", {"price": attrs.field(type=int, validator=count)})
    order = attrs.make_class("Order", {"lines": attrs.field(type=list[line])})  # type: ignore[valid-type]  # made here
    model = body_model(order)
    assert model is not None
    with pytest.raises(ValidationActionError):
        model.build({"lines": [{"price": 1}] * 1000}, False)
    assert len(validated) < 4 * MOST


async def test_a_body_that_is_no_list_or_object_is_rejected_as_such(client: Client) -> None:
    body = {"names": "abc", "stock": [1], "lines": {"0": {}}}
    response = await client.post(f"{ACTIONS}order", json=body)
    assert response.json()["fields"] == {
        "names": ["Expected a list"],
        "stock": ["Expected an object"],
        "lines": ["Expected a list"],
    }


async def test_too_many_problems_for_pydantic_are_only_counted(client: Client) -> None:
    response = await client.post(f"{ACTIONS}basket", json={"prices": ["x"] * 5000})
    assert response.status == 422
    assert response.json()["fields"] == {"__root__": ["There are 5000 problems"]}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[" * 200_000, 400),
        (b"9" * 200_000, 400),
        (b"1e9999", 400),
        (b"NaN", 400),
        (b'"\\ud800"', 400),
        (b"\xff", 400),
        (b"[" * 100_000 + b"]" * 100_000, 400),
        (b"[" * DEEPEST + b"]" * DEEPEST, 200),
        (b"[" * DEEPEST + b"[]" + b"]" * DEEPEST, 400),
        (b"[" + b"[]," * MOST_MEMBERS + b"[]]", 400),
        (b"[" + b'"a",' * MOST_MEMBERS + b"1]", 400),
        (b'["' + b"[,{" * MOST_MEMBERS + b'\\""]', 200),
        (b"[" + b"1" * 5000 + b"]", 400),
    ],
)
async def test_hostile_json_is_read_or_rejected(client: Client, body: bytes, status: int) -> None:
    headers = {"content-type": "application/json"}
    response = await client.post(f"{ACTIONS}read", content=body, headers=headers)
    assert response.status == status


def multipart(*parts: bytes) -> bytes:
    return b"".join(b"--b\r\n" + part + b"\r\n" for part in parts) + b"--b--\r\n"


def field(name: bytes, more: bytes = b"") -> bytes:
    return b'Content-Disposition: form-data; name="' + name + b'"\r\n' + more + b"\r\nv"


@pytest.mark.parametrize(
    "body",
    [
        multipart(*[field(b"f%d" % number) for number in range(2000)]),
        multipart(field(b"f", b"".join(b"X-%d: y\r\n" % number for number in range(5000)))),
        multipart(field(b"f", b"X: " + b"y" * 200_000 + b"\r\n")),
        multipart(field(b"n" * 200_000)),
        multipart(field(b"f") + b"v" * 2_000_000),
        multipart(b"X: y\r\n\r\nv"),
    ],
    ids=["parts", "headers", "long header", "long name", "long field", "no name"],
)
async def test_hostile_forms_are_rejected(client: Client, body: bytes) -> None:
    headers = {"content-type": "multipart/form-data; boundary=b"}
    response = await client.post(f"{ACTIONS}read", content=body, headers=headers)
    assert (response.status, response.json()["ok"]) == (400, False)


@pytest.mark.parametrize("media", ["text/plain", "text/plain;charset=UTF-8", "application/xml"])
async def test_a_typed_body_of_another_type_is_a_415_that_names_the_types(
    client: Client, media: str
) -> None:
    headers = {"content-type": media}
    response = await client.post(f"{ACTIONS}order", content=b'{"lines":[]}', headers=headers)
    assert response.status == 415
    assert response.json()["error"] == (
        f"The body is {media.partition(';')[0]!r}. Send application/json, "
        "application/x-www-form-urlencoded or multipart/form-data."
    )


@pytest.mark.parametrize("media", ["", "application/json; charset=utf-8", "application/x.y+json"])
async def test_a_typed_body_is_json_by_any_of_its_names_and_without_one(
    client: Client, media: str
) -> None:
    headers = {"content-type": media} if media else {}
    response = await client.post(f"{ACTIONS}order", content=b'{"lines":[]}', headers=headers)
    assert response.status == 200


async def test_an_untyped_action_may_read_any_body(client: Client) -> None:
    headers = {"content-type": "text/plain"}
    response = await client.post(f"{ACTIONS}read", content=b"[]", headers=headers)
    assert response.json() == {"ok": True, "kind": "list"}


async def test_a_file_is_there_until_the_background_tasks_are_done_and_closed_then(
    client: Client,
) -> None:
    headers = {"content-type": "multipart/form-data; boundary=b"}
    part = b'Content-Disposition: form-data; name="cv"; filename="../../a.txt"\r\n\r\nAda'
    sent = await client.post(f"{ACTIONS}send", content=multipart(part), headers=headers)
    await wait_all_tasks_blocked()
    after = await client.post(f"{ACTIONS}sent", json={})
    assert sent.json() == {"ok": True, "closed": False}
    assert after.json() == {"ok": True, "read": "Ada", "closed": True}


def _stripped(text: str) -> str:
    return text.strip()


@attrs.frozen
class Room:
    beds: int = attrs.field(validator=validators.gt(0))


@attrs.frozen
class Stay:
    """A class with each kind of validator; the names of its fields are those of the cases."""

    nights: int = attrs.field(validator=[validators.ge(1), validators.le(20)])
    email: str = attrs.field(converter=_stripped, validator=validators.matches_re(r"\w+@\w+"))
    kind: str = attrs.field(default="hut", validator=validators.in_(["hut", "tent"]))
    name: str = attrs.field(default="Ada", validator=[validators.min_len(2), validators.max_len(5)])
    any: Any = attrs.field(default="", validator=validators.instance_of(str))
    most: int = 30
    since: date = attrs.field(default=date(2026, 1, 1), validator=validators.ge(date(2026, 1, 1)))
    departure: int = attrs.field(default=0)
    rooms: list[Room] = attrs.field(factory=list)

    @departure.validator
    def _departs_in_time(self, attribute: Any, value: int) -> None:
        if value > self.nights + self.most:
            raise ValueError("You are gone by then.")


GOOD = {"nights": 2, "email": " a@b "}


def fields_of(body: dict[str, Any]) -> dict[str, list[str]]:
    """Return why ``body`` is no `Stay`."""
    model = body_model(Stay)
    assert model is not None
    with pytest.raises(ValidationActionError) as rejected:
        model.build(body, False)
    return rejected.value.fields


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("nights", 0, "Must be >= 1"),
        ("nights", 21, "Must be <= 20"),
        ("email", " nobody ", r"Must match regex '\\w+@\\w+'"),
        ("kind", "villa", "Expected one of 'hut', 'tent'"),
        ("name", "A", "Length must be >= 2"),
        ("name", "Augusta", "Length must be <= 5"),
        ("any", 1, "Expected text"),
        ("since", "2025-12-31", "Must be >= 2026-01-01"),
        ("departure", 99, "You are gone by then."),
    ],
)
def test_what_validators_of_attrs_say_is_for_users(field: str, value: Any, message: str) -> None:
    assert fields_of({**GOOD, field: value}) == {field: [message]}


def test_wrong_types_and_rejected_values_are_reported_together() -> None:
    body = {"nights": "x", "email": "nobody", "kind": 1, "rooms": [{"beds": 1}, {"beds": 0}]}
    assert fields_of({**body, "name": "A"}) == {
        "nights": ["Expected a whole number"],
        "kind": ["Expected text"],
        "rooms.1.beds": ["Must be > 0"],
        "email": [r"Must match regex '\\w+@\\w+'"],
        "name": ["Length must be >= 2"],
    }


@pytest.mark.parametrize("nights", [{"nights": "x"}, {}])
def test_a_validator_that_looks_at_a_wrong_field_waits_for_it(nights: dict[str, str]) -> None:
    assert fields_of({"email": "a@b", "departure": 99, **nights}).keys() == {"nights"}


def test_a_converter_that_fails_is_reported_with_its_field() -> None:
    @attrs.frozen
    class Code:
        size: int
        code: str = attrs.field(converter=lambda text: text[3])

    model = body_model(Code)
    assert model is not None
    with pytest.raises(ValidationActionError) as rejected:
        model.build({"size": "x", "code": "abc"}, False)
    assert rejected.value.fields == {
        "size": ["Expected a whole number"],
        "code": ["string index out of range"],
    }
