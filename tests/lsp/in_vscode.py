"""The packaged extension in a real Visual Studio Code, in Chromium: `nox -s in_vscode`.

The npm package code-server brings its workbench and its extension host; nothing is compiled.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.support import REPOSITORY, copy_example, open_browser, visit
from tests.ports import free_port

pytestmark = [pytest.mark.node, pytest.mark.browser]

VERSION = "4.100.3"
"""Of code-server. That of Visual Studio Code in it has 1 for 4; it wants Node 20."""

EXTENSION = REPOSITORY / "editors" / "vscode" / "dist" / "fxtrio.vsix"
SETTINGS = {
    "fx.command": str(Path(sys.executable).with_name("fx")),
    "editor.stickyScroll.enabled": False,
    "files.autoSave": "off",
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    "workbench.editor.enablePreview": False,
    "workbench.startupEditor": "none",
}


def install(folder: Path) -> Path:
    """Return the main file of Visual Studio Code's server, with what it needs and no more."""
    code = folder / "package" / "lib" / "vscode"
    npm = ["npm", "--silent"]
    _run([*npm, "pack", f"code-server@{VERSION}"], folder)
    (archive,) = folder.glob("code-server-*.tgz")
    shutil.unpack_archive(archive, folder, filter="data")
    options = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"]
    _run([*npm, "install", *options], code)
    return code / "out" / "server-main.js"


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Serve Visual Studio Code with the extension, and yield where, and its process."""
    main, port, data = install(folder), free_port(), folder / "data"
    settings = data / "data" / "User" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(SETTINGS), "utf-8")
    command = [
        "node",
        str(main),
        "--log=off",
        "--accept-server-license-terms",
        f"--server-data-dir={data}",
    ]
    _run([*command, f"--install-extension={EXTENSION}"], folder)
    options = ["--host=127.0.0.1", f"--port={port}", "--without-connection-token"]
    process = subprocess.Popen(
        [*command, *options],
        cwd=folder,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"127.0.0.1:{port}", psutil.Process(process.pid)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)


class Editor:
    """A window of Visual Studio Code."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.suggestions = page.locator(".suggest-widget.visible .monaco-list-row")

    def open(self, host: str, project: Path, name: str) -> None:
        """Show a project, and one of its files."""
        file = f"vscode-remote://{host}{project / name}"
        opened = quote(json.dumps([["openFile", file]]))
        self.page.goto(f"http://{host}/?folder={quote(str(project))}&payload={opened}")
        self.page.locator(".view-lines").first.click()

    def go_to(self, line: int, column: int) -> None:
        """Put the cursor somewhere; lines and columns count from 1."""
        self.page.keyboard.press("Control+g")
        prompt = self.page.locator(".quick-input-widget")
        prompt.locator("input").fill(f":{line}:{column}")
        expect(prompt).to_contain_text(f"line {line} ")
        self.page.keyboard.press("Enter")
        self.expect_at(line, column)

    def expect_at(self, line: int, column: int) -> None:
        place = self.page.locator(r"#status\.editor\.selection")
        expect(place).to_have_text(f"Ln {line}, Col {column}")

    def expect_problems(self, label: str) -> None:
        problems = self.page.locator(r"#status\.problems")
        expect(problems).to_have_attribute("aria-label", label)

    def token(self, text: str) -> Locator:
        """Return the first piece of code that is coloured by itself and has a text."""
        whole = re.compile(f"^{re.escape(text)}$")
        return self.page.locator(".view-line span span").filter(has_text=whole).first


def place(text: str, before: str) -> tuple[int, int]:
    """Return line and column behind the first ``before``, from 1."""
    head = text[: text.index(before) + len(before)]
    return head.count("\n") + 1, len(head) - head.rfind("\n")


def languages(process: psutil.Process) -> list[psutil.Process]:
    """Return the language servers of an editor."""
    found = []
    for one in process.children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has ended since
            if one.cmdline()[-2:] == [SETTINGS["fx.command"], "lsp"]:
                found.append(one)
    return found


def test_a_page_in_visual_studio_code(tmp_path: Path) -> None:
    project = copy_example("guestbook", tmp_path)
    file = project / "pages" / "index.fxl"
    text = file.read_text("utf-8")
    with serving(tmp_path) as (host, process), open_browser() as browser:
        editor = Editor(visit(browser).page)
        editor.open(host, project, "pages/index.fxl")
        keys = editor.page.keyboard

        # Both halves have colours; the head of an arrow function closes no bracket.
        for word in ("import", "async", "class"):
            expect(editor.token(word)).not_to_have_class("mtk1")
        editor.go_to(*place(text, "data.entries.m"))
        for word in ("className", "</", "map"):
            expect(editor.token(word)).not_to_have_class("mtk1")
        expect(editor.page.locator(".unexpected-closing-bracket")).to_have_count(0)

        # A mistake across the halves is told while it is written.
        editor.go_to(*place(text, 'action="sig'))
        keys.press("x")
        editor.expect_problems("Errors: 1")
        keys.press("Backspace")
        editor.expect_problems("No Problems")

        # Hover, definitions, completion.
        editor.go_to(*place(text, "{data.ent"))
        keys.press("Control+k")
        keys.press("Control+i")
        expect(editor.page.locator(".monaco-hover:not(.hidden)")).to_contain_text(
            "entries: Entry[]"
        )
        keys.press("Escape")
        keys.press("F12")
        editor.expect_at(*place(text, 'return {"'))
        editor.go_to(*place(text, 'action="si'))
        keys.press("F12")
        editor.expect_at(*place(text, "@action\nasync def "))
        editor.go_to(*place(text, "</ol>"))
        keys.type("{data.")
        expect(editor.suggestions).to_contain_text(["entries"])
        keys.press("Enter")
        keys.type("[0].")
        expect(editor.suggestions).to_contain_text(["id", "message", "name", "written"])
        keys.press("Escape")

        # What was written is undone, a key renamed in both halves, and both formatted.
        for _ in range(20):
            keys.press("Control+z")
        editor.go_to(*place(text, "{data.ent"))
        keys.press("F2")
        name = editor.page.locator(".rename-box input")
        expect(name).to_have_value("entries")
        name.fill("posts")
        keys.press("Enter")
        expect(editor.page.locator(".view-lines")).to_contain_text("data.posts.map")
        keys.press("Control+s")
        expect(editor.page.locator(".tab.active.dirty")).to_have_count(0)
        assert file.read_text("utf-8").count("posts") == 3

        # Blocks in the Python half are as deep as its others, whatever the UI half has.
        editor.go_to(*place(text, "if fields:"))
        keys.press("Enter")
        line, _ = place(text, "if fields:")
        editor.expect_at(line + 1, 9)
        for _ in range(2):
            keys.press("Control+z")

        # A server that dies is followed by one that knows what is open.
        (before,) = languages(process)
        before.kill()
        editor.go_to(*place(text, 'action="sig'))
        keys.press("x")
        editor.expect_problems("Errors: 1")
        (after,) = languages(process)
        assert after.pid != before.pid
