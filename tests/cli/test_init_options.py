"""Projects with Tailwind and TypeScript work from `fx init` to `fx serve`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cli.in_browser import edit, hydrated
from tests.e2e.accessible import assert_accessible
from tests.e2e.support import fx, served, serving, visit
from tests.ports import free_port

pytestmark = pytest.mark.browser


def create_project(folder: Path, *options: str) -> Path:
    """Return a new project with its packages from npm."""
    fx("init", "shop", *options, cwd=folder)
    npm(folder / "shop", "npm", "install", "--no-audit", "--no-fund", "--prefer-offline")
    return folder / "shop"


def npm(project: Path, *command: str) -> None:
    """Run a command of npm to its end."""
    program = shutil.which(command[0])
    assert program is not None
    done = subprocess.run(
        [program, *command[1:]], cwd=project, capture_output=True, timeout=300, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def assert_works(page: Page) -> None:
    """Add a note, and go to the other page."""
    page.get_by_label("New note").fill("hello there")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("hello there")).to_be_visible()
    page.get_by_role("link", name="About").click()
    expect(page.locator("h1")).to_have_text("About")
    expect(page.get_by_role("link", name="About")).to_have_attribute("aria-current", "page")


def test_new_classes_are_seen_at_once_and_after_a_build(browser: Browser, tmp_path: Path) -> None:
    project = create_project(tmp_path, "--tailwind", "--typescript")
    port = free_port()
    command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)]
    with serving(command, project, port) as server:
        page = visit(browser).page
        page.goto(server.url)
        hydrated(page)
        page.get_by_label("New note").fill("half a thought")
        page.evaluate("window.marker = 1")

        edit(project, "<h1>Notes</h1>", '<h1 className="text-7xl">Notes</h1>')
        expect(page.locator("h1")).to_have_css("font-size", "72px")
        (project / "components/big.tsx").write_text(
            "export const Big = ({ text }: { text: string }) => "
            '<b className="tracking-[7px]">{text}</b>;\n'
        )
        edit(
            project,
            "export default function Home",
            'import { Big } from "@/components/big";\n\nexport default function Home',
        )
        edit(project, ">Notes</h1>", '><Big text="Notes" /></h1>')
        expect(page.locator("h1 b")).to_have_css("letter-spacing", "7px")
        edit(project, '{"notes": NOTES}', '{"notes": NOTES, "look": "opacity-[.35]"}')
        edit(project, '"text-7xl"', "{`text-7xl ${data.look}`}")
        expect(page.locator("h1")).to_have_css("opacity", "0.35")

        expect(page.get_by_label("New note")).to_have_value("half a thought")
        assert page.evaluate("window.marker") == 1
        fresh = visit(browser, javascript=False).page  # the styles come with the document
        fresh.goto(server.url)
        expect(fresh.locator("h1")).to_have_css("font-size", "72px")
        expect(fresh.locator("h1 b")).to_have_css("letter-spacing", "7px")

    fx("check", cwd=project)
    npm(project, "npx", "tsc")
    time = project / "components/local-time.tsx"
    right = time.read_text()
    time.write_text(right.replace("value: string", "value: boolean"))
    with pytest.raises(AssertionError, match="Type 'boolean' is not assignable to type"):
        npm(project, "npx", "tsc")
    time.write_text(right)
    fx("build", cwd=project)
    with served(project) as server:
        page = visit(browser).page
        page.goto(server.url)
        expect(page.locator("h1")).to_have_css("font-size", "72px")
        expect(page.locator("h1 b")).to_have_css("letter-spacing", "7px")
        expect(page.locator("h1")).to_have_css("opacity", "0.35")
        assert_works(page)


@pytest.mark.nightly
@pytest.mark.parametrize("option", ["--tailwind", "--typescript"])
def test_each_option_works_alone(browser: Browser, tmp_path: Path, option: str) -> None:
    project = create_project(tmp_path, option)
    fx("check", cwd=project)
    if option == "--typescript":
        npm(project, "npx", "tsc")
    port = free_port()
    command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)]
    with serving(command, project, port) as server:
        page = visit(browser).page
        page.goto(server.url)
        hydrated(page)
        assert_accessible(page)
        assert_works(page)
        assert_accessible(page)


def test_packages_that_are_missing_are_reported(tmp_path: Path) -> None:
    fx("init", "shop", "--tailwind", cwd=tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "fxtrio", "check", "--static"],
        cwd=tmp_path / "shop",
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 1
    assert "package.json:4:3: its packages are not installed" in done.stdout
    assert "Run 'npm install'" in done.stdout
