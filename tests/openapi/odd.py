"""A project with every kind of body, result, path and endpoint."""

from __future__ import annotations

from pathlib import Path

from tests.trees import page, write_tree

ORDERS = '''
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Literal, TypedDict

import attrs
import pydantic
from attrs import validators as v
from fx.runtime import redirect
from fxtrio.uploads import UploadFile


class Size(Enum):
    SMALL = 1
    LARGE = 2


@attrs.frozen
class Line:
    sku: str = attrs.field(validator=v.matches_re("[A-Z]{3}[0-9]+"))
    count: int = attrs.field(default=1, validator=[v.ge(1), v.lt(100)])


@attrs.frozen
class Order:
    lines: list[Line] = attrs.field(validator=v.min_len(1))
    size: Size
    price: Decimal
    day: date | None = None
    kind: Literal["gift", "own"] = "own"
    stripped: str = attrs.field(default="", converter=str.strip, validator=v.max_len(3))


class Guest(pydantic.BaseModel, extra="forbid"):
    name: str = pydantic.Field(min_length=1, max_length=40, description="As on the door.")
    age: int | None = pydantic.Field(default=None, ge=18)
    email: Annotated[str, pydantic.Field(pattern="^.+@.+$")]


class Pet(pydantic.BaseModel):
    name: str = pydantic.Field(alias="petName", min_length=2)
    young: list["Pet"] = []
    other: pydantic.BaseModel | None = None


@attrs.frozen
class Photo:
    title: str
    file: UploadFile


class Placed(TypedDict):
    number: int
    lines: list[Line]


@server
async def load(request):
    return {}


@action
async def place(request, order: Order) -> Placed:
    """Place an order.

    It is delivered the next day.
    """
    return {"number": 1, "lines": order.lines}


@action
async def invite(request, *, guest: Guest | None = None):
    if guest is None:
        raise ActionError("Nobody is invited.", 409)
    return {"name": guest.name, "old": guest.age is not None}


@action
async def show(request, photo: Photo):
    return {"title": photo.title}


@action
async def leave(request):
    if request.query_params.get("stay"):
        return {"left": False}
    return redirect("/")


@action
async def adopt(request, pet: Pet):
    if pet.young:
        return {"count": len(pet.young)}
    return {"name": pet.name}


@action
async def fail(request):
    return 1 / 0
'''
FREE = """
@action
async def anything(request):
    return await request.json()
"""
NOTES = '''
from typing import TypedDict

from starlette.responses import Response


class Note(TypedDict):
    text: str


NOTES: list[Note] = []


async def get(request) -> list[Note]:
    """All notes."""
    return NOTES


async def post(request):
    NOTES.append({"text": (await request.json())["text"]})
    return {"count": len(NOTES)}, 201


def delete(request) -> Response:
    return Response(status_code=204)
'''
CLASS = """
from starlette.endpoints import HTTPEndpoint


class Things(HTTPEndpoint):
    async def get(self, request):
        return {"of": request.path_params["id"]}

    async def put(self, request):
        return {"of": request.path_params["id"]}
"""


SHARED = '''
import attrs
from fx.runtime import action


@attrs.frozen
class Cancellation:
    order: int = attrs.field(validator=attrs.validators.ge(1))


@action
async def cancel(request, body: Cancellation):
    """Cancel an order."""
    return {"cancelled": body.order}
'''


def odd_project(root: Path, config: str = "{}") -> Path:
    files = {
        "pages/index.fxl": page(FREE),
        "pages/shop/[id].fxl": page(ORDERS),
        "pages/docs/[[...path]].fxl": page(FREE),
        "pages/shop/[...rest].fxl": page(FREE),
        "pages/[team]/index.fxl": page(FREE),
        "pages/(group)/plain.fxl": page(""),
        "pages/api/notes.py": NOTES,
        "pages/api/things/[id].py": CLASS,
        "pages/api/any.py": "async def endpoint(request):\n    return {'method': request.method}\n",
        "actions/shop/orders.py": SHARED,
        "fx.config.json": config,
        "pyproject.toml": '[project]\nname = "odd"\nversion = "1.2"\n',
    }
    return write_tree(root, files)
