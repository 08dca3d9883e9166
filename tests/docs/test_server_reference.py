"""docs/reference/server.md has every option and limit of the server as it is."""

from __future__ import annotations

import json
import re
import time

import click
import pytest
from msgspec.structs import replace

from fxtrio.cli.group import main
from fxtrio.cli.serve import serve_options, server_limits
from fxtrio.config import Config
from fxtrio.config.validators import camel
from fxtrio.server.http1 import ServerLimits
from fxtrio.server.supervise.listening.per_ip_limit import PUBLIC_MOST
from fxtrio.server.supervise.logs.access_log import AccessLog
from tests.docs.pages import DOCS, blocks

PAGE = DOCS / "reference/server.md"
TEXT = PAGE.read_text(encoding="utf-8")


def section(title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def rows(title: str) -> list[list[str]]:
    found = re.findall(r"^\| (`.*) \|$", section(title), re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")] for row in found]


def test_every_option_has_its_default() -> None:
    command = main.get_command(click.Context(main), "serve")
    assert command is not None
    expected = {}
    for option in command.params:
        assert isinstance(option, click.Option)
        plain = isinstance(option.default, str | int) and option.default != ""
        expected[option.opts[0]] = f"`{option.default}`" if plain else ""
    expected |= {"--app": "`app:app`", "--access-log": "the setting"}  # worked out when it runs
    expected.pop("--help", None)

    assert {re.split("[` ]", name)[1]: default for name, default, _ in rows("Options")} == expected


def test_every_limit_has_its_default_and_its_setting() -> None:
    limits = server_limits(Config())
    documented = {row[0].strip("`"): (row[1].strip("`"), row[2]) for row in rows("Limits")}

    assert {name: text for name, (_, text) in documented.items()} == {
        name: str(getattr(limits, name)) for name in ServerLimits.__struct_fields__
    }
    assert {name for name, (setting, _) in documented.items() if setting} == {
        name for name in documented if settings_of(name)
    }
    for name, (setting, _) in documented.items():
        assert not setting or settings_of(name) == {setting}


def settings_of(limit: str) -> set[str]:
    """Return the settings that change a limit when they are raised."""
    before, found = getattr(server_limits(Config()), limit), set()
    for section_name in ("limits", "timeouts", "realtime"):
        part = getattr(Config(), section_name)
        for name in type(part).__struct_fields__:
            value = getattr(part, name)
            if isinstance(value, int | float):
                raised = replace(part, **{name: value + 7})
                config = replace(Config(), **{section_name: raised})
                if getattr(server_limits(config), limit) != before:
                    found.add(f"{section_name}.{camel(name)}")
    return found


def test_the_numbers_in_its_sentences_are_right() -> None:
    options = serve_options(
        Config(),
        PAGE.parent,
        "",
        host="",
        port=1,
        bind=(),
        workers=2,
        access_log=None,
        log_level="",
    )

    assert f"minus 2 seconds, {options.graceful:g} by default" in section("Shutdown")
    shutdown = f"`timeouts.shutdown`, {options.shutdown:g} seconds by default"
    assert shutdown in section("Shutdown")
    assert f"Up to {options.backlog} further connections" in section("Limits")
    assert f"may have {PUBLIC_MOST} connections" in section("Limits")
    assert f"seconds, {Config().tasks.drain_timeout:g} by default" in section("Shutdown")
    assert options.hang == 60, "stood still for a minute"
    assert f"`timeouts.startup`, {options.startup:g} seconds by default" in section("Protocols")
    assert f"client_max_body_size {Config().limits.body >> 20}m;" in section("Behind a proxy")


def test_the_lines_of_the_access_log_are_real(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(time, "time", lambda: 1795271720.25)
    monkeypatch.setattr(time, "localtime", time.gmtime)
    headers = [(b"host", b"shop.example"), (b"user-agent", b"curl/8.5.0")]
    scope = {"method": "GET", "raw_path": b"/blog/5", "query_string": b"page=2", "headers": headers}
    scope |= {"client": ("203.0.113.7", 45792), "http_version": "1.1"}
    examples = [block.text for block in blocks(PAGE) if block.language in ("text", "jsonl")][:2]
    for form, line in zip(("console", "json"), examples, strict=True):
        log = AccessLog(form, 1)  # type: ignore[arg-type]  # one of the two
        log.note(scope, 200, 5120, 0.0021)
        log.flush()
        assert capfd.readouterr().out == line
    assert json.loads(examples[1])["status"] == 200
