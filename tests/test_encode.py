"""The one encoder: what it takes, what it refuses, and that HTML cannot act on it."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import types
import uuid
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from fxtrio.encode import (
    NotSerializable,
    encode,
    escape_for_html,
)

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON_VALUES)
def test_json_values_come_back_as_they_were(value: Any) -> None:
    assert json.loads(encode(value, place="here")) == value


@given(JSON_VALUES)
def test_escaped_json_is_the_same_value_without_a_character_html_acts_on(value: Any) -> None:
    escaped = escape_for_html(encode(value, place="here"))
    assert json.loads(escaped) == value
    assert not any(char in escaped.decode() for char in "<>&\u2028\u2029")


class Color(enum.Enum):
    RED = "red"


@attrs.frozen
class Point:
    x: int


@dataclasses.dataclass
class Size:
    width: int


class Person(BaseModel):
    name: str


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.UTC), "2026-01-02T03:04:00Z"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (decimal.Decimal("1.10"), "1.10"),
        (Color.RED, "red"),
        (Point(1), {"x": 1}),
        (Size(2), {"width": 2}),
        (Person(name="Ann"), {"name": "Ann"}),
        ({1, 2}, [1, 2]),
        ((1, "a"), [1, "a"]),
        ({1: "a"}, {"1": "a"}),
    ],
)
def test_common_classes_are_encoded(value: object, expected: object) -> None:
    assert json.loads(encode({"v": [value]}, place="here")) == {"v": [expected]}


def cyclic() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = [value]
    return value


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [1, {"b": object()}]}, "a[1].b"),
        ({"a": float("nan")}, "a"),
        ({"a": None, "b": [1.0, float("inf")]}, "b[1]"),
        ({"p": Size(float("-inf"))}, "p.width"),  # type: ignore[arg-type]  # the mistake itself
        (cyclic(), "self[0]"),
        ({"a": lambda: 1}, "a"),
        (object(), ""),
    ],
)
def test_what_json_cannot_hold_is_named_by_its_path(value: object, path: str) -> None:
    with pytest.raises(NotSerializable) as caught:
        encode(value, place="pages/index.fxl: load()")
    assert caught.value.path == path
    assert str(caught.value).startswith("pages/index.fxl: load(): ")


class Word(str):
    """As markupsafe and numpy have them."""


class Count(int):
    pass


class Measure(float):
    """As numpy.float64."""


class Stamp(datetime.datetime):
    """As pandas.Timestamp and pendulum.DateTime."""


class Span(datetime.timedelta):
    """As pandas.Timedelta."""


class NaTType(datetime.datetime):
    """As pandas has it."""


class Scalar:
    """As the scalars of numpy; `shape` makes it an array."""

    def __init__(self, value: Any, kind: str, shape: tuple[int, ...] = ()) -> None:
        self.value = value
        self.dtype = types.SimpleNamespace(kind=kind)
        self.shape = shape

    def item(self) -> Any:
        return self.value

    def tolist(self) -> Any:
        return self.value

    def astype(self, name: str) -> Scalar:
        return Scalar(self.value if name.endswith("8[us]") else 0, name[0])

    def __float__(self) -> float:
        return float(self.value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Word("x"), "x"),
        (Count(3), 3),
        (Measure(1.5), 1.5),
        (Stamp(2026, 1, 2, 3, 4, tzinfo=datetime.UTC), "2026-01-02T03:04:00Z"),
        (Span(seconds=5), "PT5S"),
        (Scalar(3, "i"), 3),
        (Scalar(True, "b"), True),
        (Scalar(1.5, "f"), 1.5),
        (Scalar(datetime.datetime(2026, 1, 2), "M"), "2026-01-02T00:00:00"),
        ({Count(3): [Measure(0.5)]}, {"3": [0.5]}),
    ],
)
def test_scalars_of_other_libraries_are_those_of_python(value: object, expected: object) -> None:
    assert json.loads(encode({"value": value}, place="p"))["value"] == expected


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        (Measure("nan"), "Return None where there is no value."),
        (Scalar(float("nan"), "f"), "Return None where there is no value."),
        (Scalar(None, "M"), "Return None where there is no value."),
        (NaTType(1, 1, 1), "Return None where there is no value."),
        (Scalar([1], "i", (1,)), "Return its .tolist()."),
        (Scalar(1j, "c"), "Return str, int, finite float"),
    ],
)
def test_awaitables_and_iterators_are_named_with_their_remedy(value: object, remedy: str) -> None:
    with pytest.raises(NotSerializable) as caught:
        encode({"a": [value]}, place="p")
    assert caught.value.path == "a[0]"
    assert remedy in str(caught.value)


class Named(BaseModel):
    name: Any


@pytest.mark.parametrize(
    ("value", "expected", "path"),
    [
        ({"a": [1, "x\ud800y"]}, {"a": [1, "x\ufffdy"]}, "a[1]"),
        ({"\udfff": 1}, {"\ufffd": 1}, ""),
        ({"a": "\ud83d\ude00"}, {"a": "😀"}, "a"),
        (Point("\ud800"), {"x": "\ufffd"}, "x"),  # type: ignore[arg-type]  # the mistake itself
        ({"p": Named(name="\ud800"), "d": datetime.date(2026, 1, 2)}, None, "p.name"),
    ],
)
def test_half_a_surrogate_pair_is_sent_as_u_fffd_and_reported_once_for_a_place(
    value: object, expected: object, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    place = f"pages/{path}{expected}.fxl"
    sent = [json.loads(encode(value, place=place)) for _ in range(3)]
    if expected is None:
        expected = {"p": {"name": "\ufffd"}, "d": "2026-01-02"}
    assert sent == [expected] * 3
    assert [record.getMessage() for record in caplog.records] == [
        f"{place}: {repr(path) if path else 'a text'} is not valid Unicode, "
        "and was sent with U+FFFD. Check where the text comes from."
    ]


@given(st.recursive(st.text(st.characters(codec=None)), st.lists))
def test_any_text_of_python_can_be_sent(value: Any) -> None:
    encode(value, place="here").decode()


def test_what_json_cannot_hold_beside_such_text_is_named_by_its_path() -> None:
    with pytest.raises(NotSerializable) as caught:
        encode({"t": "\ud800", "a": [float("nan")]}, place="here")
    assert caught.value.path == "a[0]"
    with pytest.raises(NotSerializable) as caught:
        encode({"t": "\ud800", "o": object()}, place="here")
    assert caught.value.path == "o"


def test_a_deep_value_is_rejected_without_a_traceback() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(NotSerializable):
        encode(value, place="here")


def test_a_class_without_fields_is_an_empty_object_beside_a_null() -> None:
    @dataclasses.dataclass
    class Nothing:
        pass

    assert json.loads(encode([Nothing(), None], place="here")) == [{}, None]
