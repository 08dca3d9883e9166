"""The page of jobs in Chromium: live with JavaScript, complete without it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.accessible import assert_accessible
from tests.e2e.support import Server, fx, served, visit
from tests.jobs_page.project import ADA, PASSWORD, write_project


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_project(tmp_path_factory.mktemp("jobs"))
    fx("build", cwd=root)
    fx("auth", "create-user", ADA, "--password", PASSWORD, cwd=root)
    return root


@pytest.fixture(scope="module")
def server(project: Path) -> Iterator[Server]:
    with served(project) as server:
        yield server


def add_failed(project: Path, to: str) -> None:
    """Write a failed job, as a worker of another process would."""
    row = ("mails.send", "mail", f'[["{to}"],{{}}]', "failed", f"Traceback\nno server for {to}")
    with closing(sqlite3.connect(project / "data/app.db", timeout=10)) as file:
        file.execute(
            "insert into fx_jobs (name, queue, args, state, error, due, made, ended, attempts)"
            " values (?, ?, ?, ?, ?, ?, ?, ?, 1)",
            (*row, *[time.time()] * 3),
        )
        file.commit()


def sign_in(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/_jobs")
    page.get_by_label("Email").fill(ADA)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Jobs")).to_be_visible()


def test_what_changes_is_seen_without_a_reload(
    server: Server, project: Path, browser: Browser
) -> None:
    visitor = visit(browser)
    page = visitor.page
    sign_in(page, server)
    page.evaluate("globalThis.kept = true")
    add_failed(project, "bob")
    summary = page.get_by_text("no server for bob", exact=True)
    expect(summary).to_be_visible()
    summary.click()
    trace = page.locator("pre", has_text="no server for bob")
    expect(trace).to_be_visible()
    assert_accessible(page)
    add_failed(project, "eve")
    expect(page.get_by_text("no server for eve", exact=True)).to_be_visible()
    expect(trace).to_be_visible()  # what somebody reads stays open
    assert page.evaluate("globalThis.kept") is True
    row = page.locator("tr", has_text="no server for bob")
    row.get_by_role("button", name="Discard").click()
    expect(summary).to_have_count(0)
    assert visitor.complaints == []


def test_jobs_are_retried_and_discarded_without_javascript(
    server: Server, project: Path, browser: Browser
) -> None:
    visitor = visit(browser, javascript=False)
    page = visitor.page
    add_failed(project, "ida")
    sign_in(page, server)
    page.locator("tr", has_text="no server for ida").get_by_role("button", name="Retry").click()
    # It runs, and fails for the reason that the code gives; the page comes anew by itself.
    again = page.locator("tr", has_text="no mail server for ida")
    expect(again).to_be_visible()
    again.get_by_role("button", name="Discard").click()
    expect(again).to_have_count(0)
    assert visitor.complaints == []
