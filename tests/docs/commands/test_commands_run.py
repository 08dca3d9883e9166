"""Each command of the documentation runs as it is written, and ends as the page says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.commands import fx_server
from tests.docs.commands.reader import LEFT_OUT, NOT_RUN, Reader, Tools, visited
from tests.docs.commands.sessions import PAGES, READ, SESSIONS
from tests.docs.commands.shell import shell_lines
from tests.docs.pages import ROOT

AT_NIGHT = frozenset({"frontend"})
"""Pages whose commands only install and run programs of others."""


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    prepared = Tools(tmp_path_factory.mktemp("tools"))
    prepared.prepare()
    with fx_server.running(prepared.socket):
        yield prepared


@pytest.fixture
def reader(tools: Tools, tmp_path: Path) -> Reader:
    return Reader(tools, tmp_path, tools.environment())


@pytest.mark.node
@pytest.mark.parametrize(
    "session",
    [pytest.param(one, marks=pytest.mark.nightly) if one in AT_NIGHT else one for one in READ],
)
def test_the_commands_of_pages_run(session: str, reader: Reader) -> None:
    READ[session](reader)

    reader.close()
    expected = {
        (page, line)
        for page in SESSIONS[session]
        for line in shell_lines(ROOT / page)
        if (page, line) not in LEFT_OUT
    }
    assert set(reader.ran) == expected


def test_each_page_is_read_once() -> None:
    assert sorted(page for pages in SESSIONS.values() for page in pages) == sorted(PAGES)


def test_each_command_that_is_not_run_is_in_its_page() -> None:
    listed = {(each["page"], each["line"]) for each in NOT_RUN}
    found = {(page, line) for page in PAGES for line in shell_lines(ROOT / page)}

    assert listed <= found


def test_each_command_that_is_not_run_has_a_reason() -> None:
    assert [each["line"] for each in NOT_RUN if not each["reason"].endswith(".")] == []


@pytest.mark.parametrize(
    ("line", "run"),
    [
        ("fx build", "fx build"),
        ("fx serve --workers auto", "visit fx serve --workers auto"),
        ("fx jobs work --queue mail", "visit fx jobs work --queue mail"),
        ("python -m http.server -d dist", "visit python -m http.server -d dist"),
        ("pip install nox && nox -s demo", "pip install nox && visit nox -s demo"),
        ('export KEY="$(fx secret)"', 'export KEY="$(fx secret)"'),
        ("FX_BASE_URL=/shop", "FX_BASE_URL=/shop"),
    ],
)
def test_servers_are_visited(line: str, run: str) -> None:
    assert visited(line) == run


@pytest.mark.parametrize("line", ["fx biuld", "no-such-program", "fx serve", "false | true"])
def test_a_command_that_fails_is_a_failure(line: str, reader: Reader) -> None:
    with pytest.raises(AssertionError):
        reader.type(visited(line))
