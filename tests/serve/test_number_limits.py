"""Numbers and other values of typed bodies that Python would take, and JSON cannot hold."""

from __future__ import annotations

import dataclasses
import enum
import json
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from fxtrio.encode import encode
from fxtrio.errors import BadBody, ValidationActionError
from fxtrio.serve.request.bodies.json_body import parse_json
from fxtrio.serve.request.model.validate import body_model, unsupported_numbers


class Color(enum.Enum):
    RED = "red"


@attrs.frozen
class Inner:
    ratio: float = 0.0
    price: Decimal = Decimal(0)


@attrs.frozen
class WithAttrs:
    ratio: float = 0.0
    maybe: float | None = None
    count: int = 0
    price: Decimal = Decimal(0)
    at: datetime | None = None
    id: UUID | None = None
    color: Color | None = None
    inner: Inner | None = None
    ratios: list[float] = attrs.field(factory=list)
    named: dict[str, float] = attrs.field(factory=dict)


@dataclasses.dataclass
class WithDataclass:
    ratio: float = 0.0
    maybe: float | None = None
    count: int = 0
    price: Decimal = Decimal(0)
    at: datetime | None = None
    id: UUID | None = None
    color: Color | None = None
    inner: Inner | None = None
    ratios: list[float] = dataclasses.field(default_factory=list)
    named: dict[str, float] = dataclasses.field(default_factory=dict)


class InnerModel(BaseModel):
    ratio: float = 0.0
    price: Decimal = Decimal(0)


class WithPydantic(BaseModel):
    ratio: float = 0.0
    maybe: float | None = None
    count: int = 0
    price: Decimal = Decimal(0)
    at: datetime | None = None
    id: UUID | None = None
    color: Color | None = None
    inner: InnerModel | None = None
    ratios: list[float] = []
    named: dict[str, float] = {}


MODELS = [WithAttrs, WithDataclass, WithPydantic]
ODD = ["nan", "NaN", "-nan", "inf", "-Infinity", "1e400", "-1e999999999", "x", ""]


def build(model: type, value: dict[str, Any], *, form: bool) -> Any:
    found = body_model(model)
    assert found is not None
    return found.build(value, form)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", [*ODD, "9" * 5000])
@pytest.mark.parametrize("field", ["ratio", "maybe", "price", "count"])
@pytest.mark.parametrize("form", [True, False])
def test_numbers_that_json_cannot_hold_are_problems_of_their_field(
    model: type, text: str, field: str, form: bool
) -> None:
    with pytest.raises(ValidationActionError) as caught:
        build(model, {field: text}, form=form)
    assert list(caught.value.fields) == [field]
    assert caught.value.status_code == 422


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize(
    ("value", "path"),
    [
        (lambda text: {"inner": {"ratio": text}}, "inner.ratio"),
        (lambda text: {"inner": {"price": text}}, "inner.price"),
        (lambda text: {"ratios": [1.5, text]}, "ratios.1"),
        (lambda text: {"named": {"a": text}}, "named.a"),
    ],
)
def test_so_are_they_inside_of_others(model: type, text: str, value: Any, path: str) -> None:
    for form in (True, False):
        with pytest.raises(ValidationActionError) as caught:
            build(model, value(text), form=form)
        assert list(caught.value.fields) == [path]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "value",
    [
        {"at": "2026-13-01"},
        {"at": ["x"]},
        {"id": "x"},
        {"id": {"a": 1}},
        {"id": "0" * 100_000},
        {"color": "blue"},
        {"color": ["red"]},
        {"inner": "x"},
        {"inner": [1]},
        {"price": [1]},
        {"price": {"a": 1}},
        {"ratio": 10**400},
    ],
)
def test_values_of_other_types_are_problems_of_their_field(
    model: type, value: dict[str, Any]
) -> None:
    with pytest.raises(ValidationActionError) as caught:
        build(model, value, form=False)
    assert [path.partition(".")[0] for path in caught.value.fields] == list(value)


@pytest.mark.parametrize("model", MODELS)
def test_decimals_are_read_from_text_and_numbers(model: type) -> None:
    assert build(model, {"price": "1.10"}, form=True).price == Decimal("1.10")
    assert build(model, {"price": "1.10"}, form=False).price == Decimal("1.10")
    assert build(model, {"price": 3}, form=False).price == Decimal(3)
    assert build(model, {"price": 0.1}, form=False).price == Decimal("0.1")


@given(
    st.sampled_from(MODELS),
    st.sampled_from(["ratio", "price", "count", "maybe"]),
    st.text(alphabet="0123456789eE+-._naifNI ", max_size=12) | st.floats().map(str),
)
def test_whatever_a_form_field_is_read_as_can_be_sent(model: type, field: str, text: str) -> None:
    try:
        built = build(model, {field: text}, form=True)
    except ValidationActionError:
        return
    json.loads(encode(built, place="here"))


@given(st.text(alphabet='0123456789eE+-.[]{}":,nulINf', max_size=30))
def test_whatever_json_is_read_can_be_sent(text: str) -> None:
    try:
        value = parse_json(text.encode())
    except BadBody:
        return
    assert not list(unsupported_numbers(value))
    encode(value, place="here")
