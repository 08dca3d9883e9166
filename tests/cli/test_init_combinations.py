"""Every combination of the options of `fx init` is a project without mistakes."""

from __future__ import annotations

import json
import sys
from itertools import combinations
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from fxtrio.cli.init import starter, write_starter
from fxtrio.compile.project import check_project
from fxtrio.config import load_config
from fxtrio.testing import open_app
from tests.cli.in_browser import hydrated
from tests.e2e.accessible import assert_accessible
from tests.e2e.support import fx, serving, visit
from tests.ports import free_port

OPTIONS = ("accounts", "database", "docker", "tailwind", "typescript")
ALL = [chosen for count in range(len(OPTIONS) + 1) for chosen in combinations(OPTIONS, count)]


def write_project(folder: Path, *options: str) -> dict[str, str]:
    content = starter("shop", **dict.fromkeys(options, True))
    write_starter(folder, content)
    return {path: data.decode() for path, data in content.items()}


@pytest.mark.parametrize("options", ALL, ids=lambda options: "-".join(options) or "none")
def test_settings_and_pages_of_each_have_no_mistakes(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    content = write_project(tmp_path, *options)
    config = load_config(tmp_path, environ={})
    assert check_project(tmp_path, config).problems == ()
    assert bool(config.database.url) == ("database" in options)
    assert [plugin.name for plugin in config.plugins] == ["auth"] * ("accounts" in options)
    assert ("pages/login.fxl" in content) == ("accounts" in options)
    assert ("Dockerfile" in content) == ("docker" in options)
    assert ("FormState" in content["pages/index.fxl"]) == ("typescript" in options)
    ending = ".tsx" if "typescript" in options else ".jsx"
    components = [path for path in content if path.startswith("components/")]
    assert all(path.endswith(ending) for path in components)
    assert not any(
        "__" in text.replace("__auth", "").replace("__pycache__", "")
        for path, text in content.items()
        if path in ("Dockerfile", "README.md")
    )


@pytest.mark.parametrize("options", [(), ("database",), ("accounts", "database", "typescript")])
async def test_notes_are_stored(tmp_path: Path, options: tuple[str, ...]) -> None:
    write_project(tmp_path, *options)
    async with open_app(tmp_path) as client:
        assert (await client.action("/", "add_note", {"text": " "})).status == 422
        assert (await client.action("/", "add_note", {"text": "hello"})).ok
        notes = (await client.load_page("/")).data["notes"]
        assert notes[0]["text"] == "hello"
        assert len(notes) == 1


def test_docker_serves_what_the_options_need(tmp_path: Path) -> None:
    content = write_project(tmp_path, "accounts", "database", "docker", "tailwind")
    assert "--from=node" in content["Dockerfile"]
    command = json.loads(content["Dockerfile"].rpartition("CMD ")[2])
    assert command[:2] == ["sh", "-c"]
    assert command[2].startswith("python /srv/run.py db up && exec python /srv/run.py serve ")
    assert content["requirements.txt"] == "fxtrio[auth,node]\n"
    assert "data" in content[".dockerignore"].splitlines()
    assert "node" not in starter("shop", docker=True)["Dockerfile"].decode()


def test_types_find_a_misspelt_field(tmp_path: Path) -> None:
    for options in (("typescript",), ("typescript", "database")):
        folder = tmp_path / options[-1]
        write_project(folder, *options)
        page = folder / "pages/index.fxl"
        page.write_text(page.read_text().replace("{note.text}", "{note.txt}"))
        with pytest.raises(AssertionError, match="no 'txt' in 'Note'"):
            fx("typecheck", cwd=folder)


@pytest.mark.browser
@pytest.mark.nightly
def test_accounts_and_database_work_in_fx_dev(browser: Browser, tmp_path: Path) -> None:
    write_project(tmp_path, "accounts", "database")
    port = free_port()
    command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)]
    with serving(command, tmp_path, port) as server:
        visitor = visit(browser)
        page = visitor.page
        page.goto(server.url)
        hydrated(page)
        page.get_by_label("New note").fill("hello there")
        page.get_by_role("button", name="Add").click()
        expect(page.get_by_text("hello there")).to_be_visible()
        assert_accessible(page)
        page.get_by_role("link", name="Sign in").click()
        page.get_by_role("link", name="Create an account").click()
        for title, password in (
            ("Register", "short"),
            ("Register", "correct horse battery"),
            ("Sign in", "correct horse battery"),
        ):
            expect(page.locator("h1")).to_have_text(title)
            assert_accessible(page)
            expect(page.get_by_text("You are registered")).to_be_visible(visible=title == "Sign in")
            page.get_by_label("Email").fill("ada@example.org")
            page.get_by_label("Password").fill(password)
            page.get_by_role("button", name=title).click()
            if password == "short":
                expect(page.get_by_role("alert")).not_to_be_empty()
        expect(page.locator("h1")).to_have_text("Notes")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("link", name="Sign in")).to_be_visible()
        assert [one for one in visitor.complaints if "422" not in one] == []
