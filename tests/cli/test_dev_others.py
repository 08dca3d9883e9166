"""`fx dev` follows files that are no code: those of `public`, and packages as they come."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.cli.in_browser import edit, hydrated, open_home, wait_for
from tests.e2e.support import Server, pause, read_text
from tests.trees import write_tree

pytestmark = pytest.mark.browser

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="10"></svg>'


def npm(*arguments: str, cwd: Path) -> None:
    """Run npm to its end, without the network."""
    command = ["npm", *arguments, "--no-audit", "--no-fund"]
    subprocess.run(command, cwd=cwd, check=True, capture_output=True, timeout=120)


def wait_for_heading(server: Server, text: str) -> None:
    """Wait until documents have it, whoever serves them meanwhile."""
    give_up = time.monotonic() + 60
    heading = ""
    while heading != text:
        assert time.monotonic() < give_up, (heading, server.output())
        pause()
        found = re.search("<h1>(.*?)</h1>", read_text(server.url))
        heading = found[1].replace("<!-- -->", "") if found else ""


@pytest.mark.shared_dev
def test_a_changed_file_of_the_public_folder_appears(
    browser: Browser, server: Server, project: Path
) -> None:
    mark = project / "public/mark.svg"
    mark.write_text(SVG % 10)
    edit(project, "<h1>Notes</h1>", "<h1>Notes</h1><img id='mark' src='/mark.svg' alt='' />")
    page = open_home(browser, server)
    hydrated(page)
    width = "document.getElementById('mark').naturalWidth"
    page.wait_for_function(f"{width} === 10")

    mark.write_text(SVG % 20)
    page.wait_for_function(f"{width} === 20")
    mark.unlink()
    page.wait_for_function(f"{width} === 0")
    mark.write_text(SVG % 30)
    page.wait_for_function(f"{width} === 30")

    assert "started in" not in server.output()


def test_a_package_that_is_installed_is_there_without_a_restart_by_hand(
    browser: Browser, server: Server, project: Path
) -> None:
    write_tree(
        project.parent / "greeting",
        {
            "package.json": '{"name": "greeting", "version": "1.0.0", "main": "index.js"}',
            "index.js": "module.exports = { greet: () => 'hello from a package' };\n",
        },
    )
    page = open_home(browser, server)
    hydrated(page)

    message = "'greeting' cannot be found. Run 'npm install greeting'."
    edit(project, "import { Form }", 'import { greet } from "greeting";\nimport { Form }')
    expect(page.locator("fx-overlay")).to_contain_text(message)
    edit(project, "<h1>Notes</h1>", "<h1>{greet()}</h1>")
    wait_for(server, "~ pages/index.fxl", 2)
    expect(page.locator("fx-overlay")).to_contain_text(message)
    expect(page.locator("h1")).to_have_text("Notes")  # what was right before is shown
    npm("pack", "--pack-destination", str(project.parent), cwd=project.parent / "greeting")
    npm("install", "--offline", "../greeting-1.0.0.tgz", cwd=project)

    expect(page.locator("h1")).to_have_text("hello from a package")
    expect(page.locator("fx-overlay")).to_have_count(0)
    assert "hello from a package" in httpx.get(server.url).text
    assert "restarting the server process" in server.output()
    assert "Traceback" not in server.output()
    assert "ERROR" not in server.output()


@pytest.mark.shared_dev
def test_variables_of_env_files_are_those_that_the_files_set_now(
    server: Server, project: Path
) -> None:
    env = project / ".env"
    edit(project, "<h1>Notes</h1>", "<h1>{data.said} {import.meta.env.FX_PUBLIC_SAID}</h1>")
    edit(project, 'return {"notes"', 'import os\n    return {"said": os.getenv("SAID"), "notes"')
    env.write_text("SAID=one\nFX_PUBLIC_SAID=public-one\n")
    wait_for_heading(server, "one public-one")
    env.unlink()
    wait_for_heading(server, " ")


@pytest.mark.shared_dev
def test_a_removed_build_is_built_again(server: Server, project: Path) -> None:
    wait_for_heading(server, "Notes")
    shutil.rmtree(project / ".fx")  # as `git clean` does
    wait_for(server, "started in")
    edit(project, "<h1>Notes", "<h1>More notes")
    wait_for_heading(server, "More notes")
    assert ".fx/dev/manifest.json has changed" in server.output()
