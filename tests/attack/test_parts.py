"""The parts of the attack: its cases are the same each time, and its judge is not blind."""

from __future__ import annotations

import gzip
import json
import random
from itertools import islice
from pathlib import Path

import pytest
from hpack import Encoder
from hypothesis import given
from hypothesis import strategies as st

from ..http1.frames import TEXT, close_frame, frame
from ..http2.client import DATA, END_HEADERS, END_STREAM, HEADERS
from ..http2.client import frame as http2_frame
from .answers import read_answer
from .cases import SESSION, Case, Message
from .findings import Finding, find_in_log
from .mutate import LARGEST, grow, mutate
from .surfaces import SURFACES, make_cases

CASE = Case("forms", (b"POST / HTTP/1.1\r\n", b"\r\n\xff\0", b""), "http1")


def test_compressed_responses_are_examined_too() -> None:
    body = gzip.compress(b"the secret of " + b"x" * 1000)
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n"
    assert b"the secret of" in read_answer("http1", head % len(body) + body).text
    assert read_answer("http1", head % 3 + b"\x1f\x8b\x08").statuses == (200,)


@pytest.mark.parametrize("name", SURFACES)
def test_a_seed_makes_the_same_cases_each_time(name: str) -> None:
    first, again = (list(islice(make_cases(5, (name,)), 40)) for _ in range(2))

    assert first == again
    assert len({case.pieces for case in first}) > 30
    assert first != list(islice(make_cases(6, (name,)), 40))


def test_every_surface_has_its_turn() -> None:
    cases = islice(make_cases(1), 2 * len(SURFACES))

    assert [case.surface for case in cases] == 2 * [*SURFACES]


def test_a_case_comes_back_from_its_file_byte_by_byte(tmp_path: Path) -> None:
    CASE.save(tmp_path / "found" / "one.case", cause="status: 500")

    assert Case.load(tmp_path / "found" / "one.case") == CASE


def test_a_case_of_a_user_says_so() -> None:
    assert not CASE.signed_in
    assert Case("query", (b"Cookie: sid=" + SESSION,)).signed_in


def test_a_message_is_framed_right() -> None:
    message = Message(b"/a", b"POST", ((b"A", b"b"),), b"body")

    assert message.to_bytes() == (
        b"POST /a HTTP/1.1\r\nHost: a\r\nSec-Fetch-Site: same-origin\r\nA: b\r\n"
        b"Content-Length: 4\r\n\r\nbody"
    )


@given(st.binary(max_size=300), st.integers())
def test_damage_stays_below_its_bound(data: bytes, seed: int) -> None:
    assert len(mutate(data, random.Random(seed), (b"token",))) <= LARGEST


@given(st.binary(max_size=300), st.integers())
def test_growth_only_adds(data: bytes, seed: int) -> None:
    assert len(grow(data, random.Random(seed))) > len(data)


def test_statuses_are_found_wherever_a_response_begins() -> None:
    data = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 500 Error\r\na: b\r\n\r\n"

    answer = read_answer("http1", data)

    assert answer.statuses == (200, 500)
    assert answer.failures == (500,)


@pytest.mark.parametrize(
    ("head", "fails"),
    [
        (b"500 Internal Server Error\r\na: b", True),
        (b"502 Bad Gateway\r\na: b", True),
        (b"503 Service Unavailable\r\na: b", True),
        (b"503 Service Unavailable\r\nRetry-After: 5", False),
        (b"504 Gateway Timeout\r\na: b", True),
        (b"501 Not Implemented\r\na: b", False),
        (b"505 HTTP Version Not Supported\r\na: b", False),
        (b"404 Not Found\r\na: b", False),
    ],
)
def test_documented_behaviour_is_no_failure(head: bytes, fails: bool) -> None:
    answer = read_answer("http1", b"HTTP/1.1 " + head + b"\r\n\r\n")

    assert bool(answer.failures) is fails


def test_close_codes_are_found_behind_messages_of_any_length() -> None:
    frames = [frame(TEXT, b"x" * size, masked=False) for size in (0, 125, 126, 65536)]
    data = b"HTTP/1.1 101 Switching\r\na: b\r\n\r\n" + b"".join(frames)

    assert read_answer("websocket", data).codes == ()
    assert read_answer("websocket", data + _unmasked_close(1011)).codes == (1011,)


def _unmasked_close(code: int) -> bytes:
    whole = close_frame(code)
    assert len(whole) == 8  # head, mask, code
    return b"\x88\x02" + code.to_bytes(2)


def test_answers_of_http2_are_unpacked() -> None:
    encoder = Encoder()
    data = b"".join(
        http2_frame(HEADERS, END_HEADERS, stream, encoder.encode([(":status", status), *more]))
        + http2_frame(DATA, END_STREAM, stream, body)
        for stream, status, more, body in (
            (1, "200", [], b"one"),
            (3, "500", [("a", "b")], b"two"),
            (5, "503", [("retry-after", "1")], b""),
        )
    )

    answer = read_answer("http2", data)

    assert (answer.statuses, answer.failures, answer.text) == ((200, 500, -503), (500,), b"onetwo")


@given(st.binary(max_size=500), st.sampled_from(["http1", "http2", "websocket"]))
def test_any_bytes_can_be_an_answer(data: bytes, protocol: str) -> None:
    opening = b"HTTP/1.1 101 Switching\r\na: b\r\n\r\n" if protocol == "websocket" else b""
    read_answer(protocol, opening + data)  # type: ignore[arg-type]  # one of its names


def record(level: str, message: str, **more: str) -> str:
    return json.dumps({"level": level, "message": message, **more}) + "\n"


def test_errors_of_the_log_are_found_once_for_each_cause() -> None:
    traceback = "Traceback (most recent call last):\n  File 'x'\nKeyError: 'a'"
    log = (
        record("INFO", "fine")
        + record("ERROR", "page 5 failed", traceback=traceback)
        + record("ERROR", "page 17 failed", traceback=traceback.replace("'a'", "'b'"))
        + record("WARNING", "odd", traceback=traceback)
        + record("WARNING", "odd")
    )

    found = find_in_log(log)

    assert len(found) == 3
    assert len({one.key for one in found}) == 2


@pytest.mark.parametrize("line", ["forged", "[]", "{}", '{"level": "INFO"}'])
def test_a_line_that_is_no_record_is_found(line: str) -> None:
    assert [one.kind for one in find_in_log(record("INFO", "fine") + line + "\n")] == ["log"]


def test_a_report_says_how_to_send_the_bytes_again(tmp_path: Path) -> None:
    text = Finding("status", "forms: 500", "detail", CASE).report(tmp_path)

    path = text.rpartition(" ")[2]
    assert "python -m tests.attack --replay" in text
    assert Case.load(Path(path)) == CASE
