"""Classes as they are sent: what Python or pydantic itself does not see right."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NotRequired, Required, TypedDict

import attrs
import msgspec
import pydantic
import pytest
from pydantic import PlainSerializer, SecretStr, field_serializer

from fxtrio.compile.bundling.installation import JS
from fxtrio.encode import encode
from fxtrio.tools.types.python.annotations import Shaper
from fxtrio.tools.types.python.class_names import Definitions
from fxtrio.tools.types.python.shapes import NOTHING, Definition, Named, Shape
from fxtrio.tools.types.python.sources import Sources
from fxtrio.tools.types.ui.typescript import Printer
from tests.types.models import fits


class Line(TypedDict):
    """Its annotations are text, in which Python sees no `NotRequired`."""

    sku: str
    gift: NotRequired[bool]
    note: Annotated[NotRequired[str], "shown"]


class Order(TypedDict, total=False):
    id: Required[int]
    lines: list[Line]


@attrs.define
class Person:
    first: str
    full: str = attrs.field(init=False)
    nick: str = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.full = f"{self.first} L."


@dataclass
class Counted:
    name: str
    size: int = field(init=False)
    kind: str = field(init=False, default="counted")
    tags: list[str] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.size = len(self.name)


class Serialized(pydantic.BaseModel):
    number: int = 1
    said: int = 1
    secret: SecretStr = SecretStr("x")
    upper: Annotated[int, PlainSerializer(lambda value: str(value))] = 1

    @field_serializer("number")
    def _number(self, value):  # as many write it
        return f"no. {value}"

    @field_serializer("said")
    def _said(self, value: int) -> str:
        return str(value)


@dataclass
class Sloppy:
    name: str = None  # type: ignore[assignment]  # as many write it


@attrs.define
class SloppyToo:
    name: str = None  # type: ignore[assignment]  # as above
    size: int | None = None


class SloppyModel(pydantic.BaseModel):
    name: str = None  # type: ignore[assignment]  # as above
    size: int | None = None


class SloppyTuple(NamedTuple):
    name: str = None  # type: ignore[assignment]  # as above


class SloppyStruct(msgspec.Struct):
    name: str = None  # type: ignore[assignment]  # as above


CASES: list[tuple[Any, Any, str]] = [
    (Order, {"id": 1, "lines": [{"sku": "a"}]}, "{ id: number; lines?: Line[] }"),
    (Line, {"sku": "a"}, "{ sku: string; gift?: boolean; note?: string }"),
    (Person, Person("A"), "{ first: string; full: string; nick?: string }"),
    (Counted, Counted("A"), "{ name: string; size: number; kind?: string; tags: string[] }"),
    (Sloppy, Sloppy(), "{ name: string | null }"),
    (SloppyToo, SloppyToo(), "{ name: string | null; size: number | null }"),
    (SloppyModel, SloppyModel(), "{ name: string | null; size: number | null }"),
    (SloppyTuple, SloppyTuple(), "[string | null]"),
    (SloppyStruct, SloppyStruct(), "{ name: string | null }"),
    (Serialized, Serialized(), "{ number: any; said: string; secret: string; upper: any }"),
]


@pytest.mark.parametrize(("kind", "value", "type_text"), CASES)
def test_a_class_is_known_as_it_is_sent(kind: Any, value: Any, type_text: str) -> None:
    definitions = Definitions()
    shape = Shaper(Sources(Path("/"), {}), definitions).shape(kind)
    named: dict[str, Shape] = {one.name: one.shape for one in definitions.all()}

    assert Printer().type(definitions.resolve(shape)) == type_text
    assert fits(json.loads(encode(value, place="test")), shape, named)


def test_no_class_is_called_like_something_of_the_client() -> None:
    declared = (JS / "client" / "index.d.ts").read_text("utf-8")
    names = set(re.findall(r"^export (?:function|const|class) (\w+)", declared, re.MULTILINE))
    definitions = [Definition(name, NOTHING) for name in names]

    assert len(names) > 10
    assert {Printer.of(definitions).type(Named(name)) for name in names} == {
        f"{name}_" for name in names
    }
