"""Frames are read the same however their bytes arrive."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxtrio.ssr import frames
from fxtrio.ssr.errors import FrameSizeInvalid
from fxtrio.ssr.frames import (
    FrameReader,
    Rendered,
    RenderFrame,
    encode_credit,
    encode_frame,
    split_rendered,
)

WIRE: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent / "wire" / "frames.json").read_text()
)

any_frame = st.builds(
    RenderFrame,
    id=st.integers(0, 0xFFFFFFFF),
    page=st.integers(0, 0xFFFF),
    type=st.integers(0, 0xFF),
    flags=st.integers(0, 0xFF),
    payload=st.binary(max_size=300),
)


def encode(frame: RenderFrame) -> bytes:
    return encode_frame(frame.type, frame.id, frame.page, bytes(frame.payload), frame.flags)


@pytest.mark.parametrize("case", WIRE["frames"], ids=lambda case: case["name"])
def test_frames_have_the_bytes_of_the_wire_cases(case: dict[str, Any]) -> None:
    frame = RenderFrame(
        case["id"], case["page"], case["type"], case["flags"], bytes.fromhex(case["payload"])
    )
    assert encode(frame).hex() == case["bytes"]
    assert FrameReader().feed(bytes.fromhex(case["bytes"])) == [frame]


@pytest.mark.parametrize("case", WIRE["rendered"], ids=lambda case: case["name"])
def test_html_payloads_have_the_bytes_of_the_wire_cases(case: dict[str, Any]) -> None:
    head, html = case["head"].encode(), case["html"].encode()
    assert split_rendered(bytes.fromhex(case["payload"])) == Rendered(head, html)


@pytest.mark.parametrize("case", WIRE["refused"], ids=lambda case: case["name"])
def test_impossible_lengths_are_rejected_before_the_payload_comes(case: dict[str, Any]) -> None:
    with pytest.raises(FrameSizeInvalid) as rejected:
        FrameReader(case["limit"]).feed(bytes.fromhex(case["bytes"]))
    assert rejected.value.limit == case["limit"]


def test_both_languages_use_the_same_numbers() -> None:
    constants = WIRE["constants"]
    assert {name: getattr(frames, name) for name in constants["types"]} == constants["types"]
    assert constants["headerSize"] == frames.HEADER_SIZE
    assert constants["frameLimit"] == frames.FRAME_LIMIT
    assert constants["streamWindow"] == frames.STREAM_WINDOW
    assert (constants["hasHead"], constants["rejected"]) == (frames.HAS_HEAD, frames.REJECTED)


@given(st.lists(any_frame, max_size=8), st.data())
def test_any_split_of_the_bytes_gives_the_same_frames(sent: list[RenderFrame], data: Any) -> None:
    wire = b"".join(map(encode, sent))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=12)))
    reader = FrameReader()
    got: list[RenderFrame] = []
    for start, end in zip([0, *cuts], [*cuts, len(wire)], strict=True):
        got += reader.feed(wire[start:end])
    assert got == sent


@given(st.lists(any_frame, max_size=8), st.data())
def test_a_buffer_that_is_written_to_again_gives_the_same_frames(
    sent: list[RenderFrame], data: Any
) -> None:
    wire = b"".join(map(encode, sent))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=12)))
    buffer, reader = memoryview(bytearray(len(wire))), FrameReader()
    got: list[RenderFrame] = []
    for start, end in zip([0, *cuts], [*cuts, len(wire)], strict=True):
        buffer[: end - start] = wire[start:end]
        for frame in reader.feed(buffer[: end - start]):
            got.append(frame._replace(payload=bytes(frame.payload)))
        buffer[:] = bytes(len(wire))
    assert got == sent


@given(any_frame)
def test_single_bytes_give_the_same_frame(sent: RenderFrame) -> None:
    reader = FrameReader()
    got = [frame for byte in encode(sent) for frame in reader.feed(bytes([byte]))]
    assert got == [sent]


@given(st.lists(any_frame, max_size=4), st.integers(1, 1000))
def test_a_frame_above_the_limit_is_rejected_behind_good_ones(
    sent: list[RenderFrame], excess: int
) -> None:
    reader = FrameReader(limit=400)
    wire = b"".join(map(encode, sent))
    assert reader.feed(wire) == sent
    with pytest.raises(FrameSizeInvalid) as rejected:
        reader.feed(encode_frame(0, 1, 0, bytes(392 + excess))[:12])
    assert rejected.value.length == 400 + excess


@given(st.binary(max_size=50), st.binary(max_size=50))
def test_head_and_html_come_back_as_they_were(head: bytes, html: bytes) -> None:
    assert split_rendered(struct.pack("<I", len(head)) + head + html) == Rendered(head, html)


@pytest.mark.parametrize("payload", [b"", b"\1", b"\5\0\0\0html", b"\xff\xff\xff\xff"])
def test_a_head_longer_than_its_payload_is_rejected(payload: bytes) -> None:
    with pytest.raises(FrameSizeInvalid):
        split_rendered(payload)


def test_a_payload_too_large_for_the_other_side_is_not_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frames, "FRAME_LIMIT", 100)
    assert len(encode_frame(0, 1, 0, bytes(92))) == 104
    with pytest.raises(FrameSizeInvalid, match="101 bytes"):
        encode_frame(0, 1, 0, bytes(93))


def test_a_credit_is_a_frame_like_others() -> None:
    [frame] = FrameReader().feed(encode_credit(7, 1000))
    assert (frame.type, frame.id, frame.payload) == (frames.CREDIT, 7, b"\xe8\3\0\0")
