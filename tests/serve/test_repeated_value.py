"""Values that repeat are encoded once, and none is taken for another one."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

import attrs
import msgspec
import pytest
from hypothesis import given

from fxtrio.encode import NotSerializable, encode, encode_for_html
from fxtrio.serve.pages.repeated_value import PATIENCE, RepeatedValue
from tests.test_encode import JSON_VALUES


@given(JSON_VALUES)
def test_json_values_that_repeat_are_encoded_as_they_were(value: Any) -> None:
    repeated = RepeatedValue("here")
    long = [value, "x" * 2000]
    for same in (value, *[long] * (PATIENCE + 2), value):
        assert repeated.encode_for_html(same) == encode_for_html(same, "here")


def test_what_json_cannot_hold_is_rejected_after_a_value_with_equal_json() -> None:
    repeated = RepeatedValue("here")
    assert repeated.encode_for_html({"a": None}) == b'{"a":null}'
    with pytest.raises(NotSerializable, match="'a'"):
        repeated.encode_for_html({"a": float("nan")})
    with pytest.raises(NotSerializable, match="'b'"):
        repeated.encode_for_html({"b": object()})
    assert repeated.encode_for_html({"a": "\ud800<"}) == b'{"a":"\xef\xbf\xbd\\u003c"}'


@attrs.frozen
class HasRaw:
    """A record with text that is JSON."""

    raw: msgspec.Raw


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (b"a", "YQ=="),
        (2**70, 2**70 + 1),
        (
            datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC),
            datetime.datetime(
                2026, 1, 1, 13, tzinfo=datetime.timezone(datetime.timedelta(hours=1))
            ),
        ),
        (
            datetime.datetime(2200, 1, 1, 12, 0, 0, 1, tzinfo=datetime.UTC),
            datetime.datetime(
                2200, 1, 1, 13, 0, 0, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1))
            ),
        ),
        (
            {datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC): 1},
            {
                datetime.datetime(
                    2026, 1, 1, 13, tzinfo=datetime.timezone(datetime.timedelta(hours=1))
                ): 1
            },
        ),
        (49, msgspec.Raw(b"1")),
        ({"a": [7, 57]}, {"a": (7, msgspec.Raw(b"9"))}),
        ({"raw": 48}, HasRaw(msgspec.Raw(b"0"))),
        ({str(uuid.UUID(int=1)): 49}, {uuid.UUID(int=1): msgspec.Raw(b"1")}),
        (
            {uuid.UUID(int=1): 49, str(uuid.UUID(int=1)): 1},
            {uuid.UUID(int=1): msgspec.Raw(b"1"), str(uuid.UUID(int=1)): 1},
        ),
        # The text is an int, False, and the beginning of a list of three.
        ([34, False, [34, 1, 2]], [msgspec.Raw('"\x93"'.encode()), 1, 2]),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_a_value_that_repeats_is_not_taken_for_another_one(
    one: object, other: object, order: int
) -> None:
    repeated, often = RepeatedValue("here"), PATIENCE + 2
    one, other = (one, other)[::order]
    for value in (*[one] * often, other, *[other] * often, one):
        page = {"long": "<" * 2000, "value": value}
        assert repeated.encode_for_html(page) == encode_for_html(page, "here")


@pytest.mark.parametrize(
    "rows",
    [
        [{"id": number, "name": "<", "amount": number / 3} for number in range(200)],
        [{"day": datetime.date(2026, 1, 1), "id": uuid.UUID(int=49), "of": "x"}] * 50,
        ["a" * 2000],
    ],
)
def test_a_value_that_repeats_often_is_not_encoded_as_json(
    rows: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeated = RepeatedValue("here")
    for _ in range(PATIENCE + 1):
        repeated.encode_for_html(rows)
    expected = encode_for_html(rows, "here")
    monkeypatch.setattr("fxtrio.serve.pages.repeated_value.encode_plainly", None)
    assert repeated.encode_for_html(rows) == expected


def test_a_value_with_many_small_ints_is_compared_as_json() -> None:
    repeated, codes = RepeatedValue("here"), list(b"0123456789" * 60 + b"7")
    for _ in range(2 * PATIENCE):
        assert repeated.encode_for_html(codes) == encode(codes, place="here")
    last_is_raw = [*codes[:-1], msgspec.Raw(b"7")]
    assert repeated.encode_for_html(last_is_raw) == encode(last_is_raw, place="here")


def test_a_value_that_changes_in_place_is_encoded_again() -> None:
    repeated, rows = RepeatedValue("here"), [{"id": number} for number in range(200)]
    for _ in range(PATIENCE + 2):
        assert repeated.encode_for_html(rows) == encode(rows, place="here")
    rows[0]["id"] = 2
    assert repeated.encode_for_html(rows) == encode(rows, place="here")
