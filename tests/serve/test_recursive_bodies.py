"""Bodies whose class contains itself, directly or in lists and objects.

Without postponed annotations: names in quotes inside of `list[…]` stay names for longest."""

import dataclasses
from socket import socket
from typing import Any

import attrs
import pytest

from fxtrio.errors import ValidationActionError
from fxtrio.serve.request.model.model_check import FieldsImpossible
from fxtrio.serve.request.model.validate import body_model


@attrs.frozen
class Comment:
    text: str
    replies: list["Comment"] = attrs.field(factory=list)


@dataclasses.dataclass
class Folder:
    folders: dict[str, "Folder"] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Link:
    name: str
    next: "Link | None" = None


@attrs.frozen
class Left:
    rights: tuple["Right", ...] = ()


@attrs.frozen
class Right:
    lefts: list[Left | None] = attrs.field(factory=list)


@attrs.frozen
class Plug:
    wire: socket


@attrs.frozen
class Board:
    rows: list[dict[str, list[Plug]]]
    wires: list[socket]


def build(model: type, value: Any) -> Any:
    found = body_model(model)
    assert found is not None
    return found.build(value, False)


@pytest.mark.parametrize(
    ("model", "value", "built"),
    [
        (
            Comment,
            {"text": "a", "replies": [{"text": "b"}]},
            Comment("a", [Comment("b")]),
        ),
        (Folder, {"folders": {"a": {"folders": {}}}}, Folder({"a": Folder()})),
        (Link, {"name": "a", "next": {"name": "b"}}, Link("a", Link("b"))),
        (Left, {"rights": [{"lefts": [None, {}]}]}, Left((Right([None, Left()]),))),
    ],
)
def test_a_class_that_contains_itself_is_built(model: type, value: Any, built: Any) -> None:
    assert build(model, value) == built


def test_an_error_far_inside_has_its_path() -> None:
    value = {"text": "a", "replies": [{"text": "b", "replies": [{"text": 7}]}]}
    with pytest.raises(ValidationActionError) as caught:
        build(Comment, value)
    assert list(caught.value.fields) == ["replies.0.replies.0.text"]


def test_what_no_body_can_have_is_found_inside_of_lists_and_objects() -> None:
    with pytest.raises(FieldsImpossible) as caught:
        body_model(Board)
    assert list(caught.value.fields) == ["rows.wire", "wires"]
