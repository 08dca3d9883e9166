"""The log on standard error: what a record looks like, and who writes it."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from fxtrio.app_handle import App
from fxtrio.cli.output import print_errors
from fxtrio.context import RequestContext, current
from fxtrio.log import ConsoleFormatter, JsonFormatter, LogFormat, log_early, open_log, open_own_log


def record(message: str, *, error: BaseException | None = None, request: str = "-") -> str:
    return _form(ConsoleFormatter(), message, error, request)


def _form(form: logging.Formatter, message: str, error: BaseException | None, request: str) -> str:
    info = None if error is None else (type(error), error, error.__traceback__)
    log_record = logging.LogRecord("shop", logging.ERROR, __file__, 1, message, (), info)
    log_record.request_id = request
    return form.format(log_record)


def test_a_record_has_its_time_process_level_and_request() -> None:
    assert record("it rains", request="5f3a").endswith("] [ERROR] it rains [request 5f3a]")


def test_a_record_without_a_request_names_none() -> None:
    assert record("it rains").endswith("] [ERROR] it rains")


def test_what_follows_the_first_line_cannot_pass_for_another_record() -> None:
    lines = record("one\n[2026-01-01 00:00:00 +0000] [1] [INFO] forged", request="5f3a").split("\n")
    assert lines[0].endswith("one [request 5f3a]")
    assert lines[1].startswith("    [2026")


def test_a_traceback_is_part_of_its_record() -> None:
    lines = record("it failed", error=ValueError("a\nb")).split("\n")
    assert lines[1:] == ["    ValueError: a", "    b"]


def test_in_json_a_record_is_one_line() -> None:
    line = _form(JsonFormatter(), "a\nb", ValueError("c"), "5f3a")
    assert "\n" not in line
    assert {name: json.loads(line)[name] for name in ("level", "logger", "message", "request")} == {
        "level": "ERROR",
        "logger": "shop",
        "message": "a\nb",
        "request": "5f3a",
    }
    assert json.loads(line)["traceback"] == "ValueError: c"


@contextmanager
def bare_root() -> Iterator[logging.Logger]:
    """The root logger without handlers (pytest has some), put back as it was."""
    root, fx = logging.getLogger(), logging.getLogger("fx")
    before = root.handlers, root.level, fx.handlers, fx.level

    def put(handlers: list[Any], level: int, of_fx: list[Any], level_of_fx: int) -> None:
        root.handlers, fx.handlers = handlers, of_fx
        root.setLevel(level)  # which forgets what loggers know of levels
        fx.setLevel(level_of_fx)

    put([], logging.WARNING, [], logging.NOTSET)
    try:
        yield root
    finally:
        put(*before)


def test_an_application_that_has_set_up_logging_keeps_its_own_way() -> None:
    own = logging.NullHandler()
    with bare_root() as root:
        root.addHandler(own)
        root.setLevel(logging.ERROR)
        open_log("console", "INFO")
        assert root.handlers == [own]
        assert root.level == logging.ERROR
        assert logging.getLogger("fx.server").isEnabledFor(logging.INFO)


def test_others_log_in_one_form_with_the_request_they_work_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    work = RequestContext(cast("App", None), "5f3a")
    with bare_root():
        open_log("console", "INFO")
        token = current.set(work)
        logging.getLogger("shop").info("sold")
        current.reset(token)
    assert capsys.readouterr().err.endswith("[INFO] sold [request 5f3a]\n")


def test_under_another_server_records_of_fx_have_the_same_form(
    capsys: pytest.CaptureFixture[str],
) -> None:
    work = RequestContext(cast("App", None), "5f3a")
    with bare_root():
        open_own_log()
        open_own_log()  # two apps in one process
        token = current.set(work)
        logging.getLogger("fx.serve").info("served")
        current.reset(token)
        logging.getLogger("shop").info("not ours")
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("[20") and line.endswith("[INFO] served [request 5f3a]")


@pytest.mark.parametrize("name", [None, "fx"])
@pytest.mark.parametrize("before", [True, False])
def test_an_application_under_another_server_may_set_up_logging_at_any_time(
    capsys: pytest.CaptureFixture[str], name: str | None, before: bool
) -> None:
    with bare_root():
        if not before:
            open_own_log()
        logging.getLogger(name).addHandler(logging.StreamHandler(sys.stderr))
        logging.getLogger(name).setLevel(logging.INFO)
        if before:
            open_own_log()
        logging.getLogger("fx.serve").info("served")
    assert capsys.readouterr().err == "served\n"


def test_the_level_that_an_application_has_chosen_stays(capsys: pytest.CaptureFixture[str]) -> None:
    with bare_root():
        logging.getLogger("fx").setLevel(logging.ERROR)
        open_own_log()
        logging.getLogger("fx.serve").warning("not this")
    assert capsys.readouterr().err == ""


def test_what_a_terminal_would_obey_is_written_out_and_text_stays_as_it_is() -> None:
    hostile = "a\x1b]0;owned\x07b\x9b31mc\r\x00d\u202ee"
    written = record(hostile)
    assert "a\\x1b]0;owned\\x07b\\x9b31mc\\r\\x00d\\u202ee" in written
    text = "Zürich\t漢字 😀 \u200d\nsecond line"
    assert "Zürich\t漢字 😀 \u200d\n    second line" in record(text)
    try:
        raise RuntimeError(hostile)
    except RuntimeError as error:
        traceback = record("failed", error=error)
    assert "\x1b" not in traceback and "\\x1b]0;owned" in traceback


def test_errors_of_commands_and_problems_of_files_are_printed_so_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_errors([RuntimeError("no \x1b[2Jscreen")])
    assert "error no \\x1b[2Jscreen" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["console", "json"])
def test_records_before_the_log_is_open_have_its_format(
    capsys: pytest.CaptureFixture[str], form: LogFormat
) -> None:
    early = logging.LogRecord("fx.app", logging.WARNING, __file__, 1, "slow import", (), None)
    with bare_root():
        log_early(early, form, "INFO")
        assert not logging.getLogger().handlers
    written = capsys.readouterr().err
    assert json.loads(written)["message"] == "slow import" if form == "json" else written[0] == "["


@pytest.mark.parametrize("is_set_up", [False, True])
def test_records_before_the_log_is_open_have_a_level(
    capsys: pytest.CaptureFixture[str], is_set_up: bool
) -> None:
    early = logging.LogRecord("fx.app", logging.WARNING, __file__, 1, "slow import", (), None)
    with bare_root():
        if is_set_up:
            logging.basicConfig(level=logging.ERROR)
        log_early(early, "console", "ERROR")
    assert capsys.readouterr().err == ""
