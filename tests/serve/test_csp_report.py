"""Reports of the Content-Security-Policy: what is logged of them, and what never is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from fx.testing import Client, open_app
from fxtrio.serve.csp_report import (
    ADDRESSES,
    HOUR,
    PROBLEMS,
    RATE,
    CspProblem,
    CspReports,
    parse_reports,
)
from tests.trees import page, write_tree

REPORT = "/api/__csp-report"
EVIL = CspProblem("script-src-elem", "https://evil.example", "/notes")


def old_form(**changed: Any) -> bytes:
    report = {
        "document-uri": "https://shop.example/notes?token=secret",
        "violated-directive": "script-src-elem 'self'",
        "blocked-uri": "https://evil.example/x.js?visitor=7",
        **changed,
    }
    return json.dumps({"csp-report": report}).encode()


def new_form(*urls: str) -> bytes:
    bodies = [
        {
            "documentURL": "https://shop.example/notes",
            "effectiveDirective": "script-src-elem",
            "blockedURL": url,
        }
        for url in urls
    ]
    return json.dumps(
        [{"type": "csp-violation", "age": 1, "body": body} for body in bodies]
    ).encode()


def test_both_forms_of_a_report_are_read_as_one_problem() -> None:
    assert (
        parse_reports(old_form()) == parse_reports(new_form("https://evil.example/y.js")) == [EVIL]
    )


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("inline", "inline"),
        ("eval", "eval"),
        ("data:text/html,x", "data"),
        ("https://user:secret@evil.example:8443/x", "https://evil.example:8443"),
        ("http://[", "a URL"),
        ("", "a URL"),
        ("https://" + "x" * 5000, "https://" + "x" * 112),
    ],
)
def test_of_what_was_blocked_only_the_origin_is_reported(url: str, origin: str) -> None:
    assert parse_reports(new_form(url))[0].blocked == origin


def test_other_reports_are_left_alone_and_long_lists_cut() -> None:
    assert parse_reports(b'[{"type":"deprecation","body":{"id":"x"}},{"age":1}]') == []
    assert len(parse_reports(new_form(*["inline"] * 500))) == 20


ANY_PAGE = st.text(max_size=60).map(lambda text: old_form(**{"document-uri": text}))


@given(st.binary(max_size=60) | ANY_PAGE)
def test_any_body_is_a_report_or_rejected_and_makes_one_line(body: bytes) -> None:
    try:
        problems = parse_reports(body)
    except msgspec.DecodeError:
        return
    assert all(str(problem).isprintable() for problem in problems)


@pytest.mark.parametrize(("blocked", "remedy"), [("eval", "jitless"), ("inline", "useNonce()")])
def test_what_libraries_do_is_reported_with_its_remedy(blocked: str, remedy: str) -> None:
    [line] = CspReports().add(CspProblem("script-src-elem", blocked, "/notes"), 0)
    assert remedy in line
    [style] = CspReports().add(CspProblem("style-src-elem", blocked, "/notes"), 0)
    assert remedy not in style


def test_a_problem_is_reported_once_an_hour_with_its_number() -> None:
    reports = CspReports()
    assert reports.add(EVIL, 0) == [
        "'/notes': script-src-elem does not allow 'https://evil.example'"
    ]
    for second in range(1000):
        assert reports.add(EVIL, second) == []
    [line] = reports.add(EVIL, HOUR)
    assert line.startswith("1000 more within the hour: '/notes'")
    assert reports.add(EVIL, HOUR + 1) == []


def test_many_problems_and_addresses_are_bounded() -> None:
    reports = CspReports()
    problems = [CspProblem("img-src", "inline", f"/{number}") for number in range(5000)]
    assert sum(len(reports.add(problem, 0)) for problem in problems) == PROBLEMS
    reports.add(EVIL, HOUR)
    assert reports.add(EVIL, 3 * HOUR) != []

    for number in range(5000):
        assert reports.may_report(f"10.0.{number // 256}.{number % 256}", 0)
    assert len(reports._heard) == ADDRESSES


def test_one_address_is_heard_so_often_a_minute() -> None:
    reports = CspReports()
    assert [reports.may_report("10.0.0.1", 0) for _ in range(RATE + 1)] == [True] * RATE + [False]
    assert reports.may_report("10.0.0.2", 0)
    assert reports.may_report("10.0.0.1", 60)


@pytest.fixture
async def client(tmp_path: Path) -> Any:
    write_tree(tmp_path, {"pages/index.fxl": page("")})
    async with open_app(tmp_path) as opened:
        yield opened


async def test_a_flood_of_reports_is_one_line(
    client: Client, caplog: pytest.LogCaptureFixture, autojump_clock: MockClock
) -> None:
    statuses = [(await client.post(REPORT, content=old_form())).status for _ in range(RATE + 5)]
    assert statuses == [204] * RATE + [429] * 5
    assert caplog.messages == [f"content security policy: {EVIL}"]


async def test_a_body_that_is_no_report_is_rejected_and_not_logged(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    deep = b'[{"type":"csp-violation","body":' + b"[" * 20_000 + b"]" * 20_000 + b"}]"
    for body in (b'{"csp-report":{}}\r\nforged', b"forged", b"", b"[1]", b"\xff\xfe", deep):
        assert (await client.post(REPORT, content=body)).status == 400, body
    assert (await client.post(REPORT, content=b"x" * 70_000)).status == 413
    assert (await client.get(REPORT)).status == 405
    assert "forged" not in caplog.text
