"""Messages become frames by their type, in the same bytes a WebSocket library would write."""

import datetime
import json
import uuid

import attrs
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame as ReferenceFrame
from websockets.frames import Opcode

from fxtrio.errors import MessageNotEncodable
from fxtrio.realtime.frames import Frame, encode_message

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text() | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(json_values, max_size=5) | st.dictionaries(st.text(), json_values, max_size=5))
def test_a_dict_or_list_becomes_a_json_text_frame(message):
    frame = encode_message(message)
    assert json.loads(frame.event["text"]) == message


@given(st.text())
def test_a_str_becomes_a_text_frame(message):
    assert encode_message(message).event == {"type": "websocket.send", "text": message}


@given(st.binary())
def test_bytes_become_a_binary_frame(message):
    assert encode_message(message).event == {"type": "websocket.send", "bytes": message}


@pytest.mark.parametrize("message", [bytearray(b"ab"), memoryview(b"ab")])
def test_other_kinds_of_bytes_become_binary_frames_too(message):
    assert encode_message(message).event == {"type": "websocket.send", "bytes": b"ab"}


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65535, 65536, 70000])
@pytest.mark.parametrize("binary", [False, True])
def test_the_wire_form_is_what_the_websocket_protocol_says(size, binary):
    payload = b"x" * size
    reference = ReferenceFrame(Opcode.BINARY if binary else Opcode.TEXT, payload)
    assert Frame(payload, binary=binary).wire == reference.serialize(mask=False)


def test_a_frame_is_encoded_once_and_shared():
    frame = encode_message({"a": 1})
    assert encode_message(frame) is frame
    assert frame.event is frame.event
    assert frame.wire is frame.wire


def test_the_values_a_loader_may_return_may_be_published_too():
    @attrs.frozen
    class Point:
        x: int

    class Model(pydantic.BaseModel):
        y: int

    message = {
        "when": datetime.date(2026, 1, 2),
        "id": uuid.UUID(int=1),
        "attrs": Point(1),
        "pydantic": Model(y=2),
    }
    assert json.loads(encode_message(message).payload) == {
        "when": "2026-01-02",
        "id": "00000000-0000-0000-0000-000000000001",
        "attrs": {"x": 1},
        "pydantic": {"y": 2},
    }


@pytest.mark.parametrize(
    "message",
    [None, 3, 1.5, True, object(), {"a": object()}, {"a": float("nan")}, [float("inf")]],
    ids=lambda message: type(message).__name__,
)
def test_what_no_frame_can_hold_is_rejected(message):
    with pytest.raises(MessageNotEncodable, match="Publish a dict or list"):
        encode_message(message)


@pytest.mark.parametrize("message", ["a\ud800", {"a": "a\ud800"}, ["a\udfff"]], ids=repr)
def test_half_a_surrogate_pair_is_published_as_a_replacement_character(message):
    assert "a\ufffd" in encode_message(message).payload.decode()


def test_a_rejected_value_is_named_with_its_place_and_nothing_else():
    async def find(): ...

    with pytest.raises(
        MessageNotEncodable, match=r"the value at 'a\[0\]' .*: 1j \(complex\)"
    ) as one:
        encode_message({"a": {1j}})
    with pytest.raises(MessageNotEncodable, match=r"'x' is the coroutine .*find\(\), without"):
        encode_message({"x": find()})
    assert one.value.__suppress_context__


def test_a_message_that_contains_itself_is_rejected():
    message: list[object] = []
    message.append(message)
    with pytest.raises(MessageNotEncodable):
        encode_message(message)


def test_a_null_is_fine():
    assert encode_message({"a": None}).payload == b'{"a":null}'


def test_the_repr_of_a_frame_is_short():
    assert repr(encode_message("a" * 1000)).endswith("(1000 bytes)>")
