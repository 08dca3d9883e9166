"""The first of its kind needs no restart by hand: `tests/cli/firsts.py` has the list."""

from __future__ import annotations

import re
import shutil
import sys
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.firsts import DATABASE, FIRSTS, HOME, IN_TURN, First
from tests.cli.in_browser import hydrated, wait_for, wait_for_text
from tests.e2e.support import Server, fx, pause, read_text, serving, visit
from tests.ports import free_port
from tests.trees import write_tree

pytestmark = pytest.mark.browser


@pytest.fixture(params=sorted(FIRSTS))
def first(request: pytest.FixtureRequest) -> First:
    return FIRSTS[request.param]


@pytest.fixture
def project(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    before = {"pages/index.fxl": HOME}
    if "first" in request.fixturenames:
        before |= request.getfixturevalue("first").before
    return write_tree(tmp_path / "bare", before)


@pytest.mark.nightly
def test_the_first_of_its_kind_is_there_without_a_restart_by_hand(
    browser: Browser, server: Server, project: Path, first: First
) -> None:
    add_and_remove(first, browser, server, project)


def test_one_after_the_other_is_there_without_a_restart_by_hand(
    browser: Browser, server: Server, project: Path
) -> None:
    for name in IN_TURN:
        add_and_remove(FIRSTS[name], browser, server, project)


def add_and_remove(first: First, browser: Browser, server: Server, project: Path) -> None:
    page = visit(browser).page
    page.goto(server.url + first.path)
    if first.path == "/" and "pages/index.fxl" not in first.before:
        expect(page.locator("h1")).to_have_text(re.compile("^Bare"))
        hydrated(page)

    write_tree(project, first.files)
    if first.shows:
        expect(page.locator("body")).to_contain_text(first.shows)
        expect(page.locator("fx-overlay")).to_have_count(0)
    give_up = time.monotonic() + 60
    while first.then is not None and not first.then(server, page):
        assert time.monotonic() < give_up, server.output()
        pause()

    for file in project.iterdir():  # and the last of its kind is removed
        if file.is_dir() and not file.name.startswith("."):
            shutil.rmtree(file, ignore_errors=True)
        elif file.is_file():
            file.unlink(missing_ok=True)
    write_tree(project, {"pages/index.fxl": HOME.replace("Bare", "Bare again")})
    if first.path == "/":
        expect(page.locator("h1")).to_have_text("Bare again")
    wait_for_text(server, "Bare again")
    page.context.close()
    assert server.process.poll() is None


def test_a_migration_is_run_when_it_is_written_and_not_when_it_is_begun(
    server: Server, project: Path
) -> None:
    write_tree(project, DATABASE)
    wait_for(server, "fx.config.json has changed")
    wait_for(server, "started in", 2)
    fx("db", "new", "words", cwd=project)
    wait_for(server, "migrations/0001_words.sql is to be run")
    wait_for(server, "started in", 3)
    write_tree(project, FIRSTS["migration"].files)
    wait_for_text(server, "a migration")


def test_a_project_may_begin_with_nothing(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)]
    with serving(command, tmp_path, port, ready=500) as server:
        assert "fx init NAME" in server.output()
        give_up, saves = time.monotonic() + 60, 0
        while "~ notes.css" not in server.output():  # files are watched a moment later
            assert time.monotonic() < give_up, server.output()
            saves += 1
            write_tree(tmp_path, {"notes.css": f"/* {saves} */\n"})
            read_text(server.url)
        write_tree(tmp_path, {"pages/index.fxl": HOME})
        wait_for_text(server, "Bare")
