"""Takes the pictures of the README and the docs from the real product: `nox -s pictures`."""

from __future__ import annotations

import datetime
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.cli.in_browser import edit, hydrated
from tests.e2e.clip import record
from tests.e2e.support import Server, copy_example, fx, open_browser, served, serving
from tests.ports import free_port

PICTURES = Path(__file__).parents[2] / "docs/screenshots"
SIZE = {"width": 900, "height": 600}
PASSWORD = "correct horse battery staple"
DAY = (datetime.date.today() + datetime.timedelta(1)).isoformat()


def look(browser: Browser, url: str) -> Page:
    page = browser.new_page(viewport={**SIZE}, locale="en-GB", timezone_id="UTC")  # type: ignore[arg-type]  # a dict
    page.goto(url)
    return page


def take(page: Page, name: str, height: int = 600) -> None:
    """Write the upper ``height`` pixels of one picture, with nothing moving."""
    page.mouse.move(0, 0)
    page.screenshot(
        path=PICTURES / f"{name}.png",
        animations="disabled",
        caret="hide",
        clip={"x": 0, "y": 0, "width": 900, "height": height},
    )


def fill(page: Page, button: str, **fields: str) -> None:
    for label, text in fields.items():
        page.get_by_label(label.replace("_", " ")).fill(text)
    page.get_by_role("button", name=button).click()


def starter(browser: Browser, folder: Path) -> None:
    fx("init", "shop", cwd=folder)
    project, port = folder / "shop", free_port()
    command = [sys.executable, "-m", "fxtrio", "dev", "--port", str(port)]
    with serving(command, project, port) as server:
        page = look(browser, server.url)
        hydrated(page)
        take(page, "starter")
        edit(project, '{"notes": NOTES}', '{"notes": NOTES[99]}')
        expect(page.locator("fx-overlay small")).to_be_visible()
        take(page, "overlay", 500)  # without the traceback, whose paths are temporary


def guestbook(browser: Browser, server: Server) -> None:
    page = look(browser, server.url)
    for name, message in (("Grace", "What a lovely place."), ("Ada", "It weaves patterns.")):
        fill(page, "Sign", Your_name=name, Your_message=message)
        expect(page.get_by_text(message)).to_be_visible()
    take(page, "guestbook")


def notes(browser: Browser, server: Server) -> None:
    page = look(browser, server.url)
    fill(page, "Write", Title="Shopping", Text="Milk, and a lot of bread.")
    expect(page.get_by_role("link", name="Shopping")).to_be_visible()
    take(page, "notes")


def assistant(browser: Browser, server: Server) -> None:
    page = look(browser, server.url)
    fill(page, "Ask", Your_question="What is a stream?")
    expect(page.get_by_role("button", name="Try again")).to_be_enabled()
    take(page, "assistant")


def sign_in(browser: Browser, server: Server, name: str, path: str) -> Page:
    page = look(browser, f"{server.url}/login?next={path}")
    fill(page, "Sign in", Email=f"{name}@example.org", Password=PASSWORD)
    page.wait_for_url(lambda url: "/login" not in url)
    return page


def chat(browser: Browser, server: Server) -> None:
    pages = [sign_in(browser, server, name, "/rooms/lobby") for name in ("ada", "grace")]
    lines = ("Is the engine ready?", "Nearly: one gear is missing.", "I'll bring one.")
    for number, line in enumerate(lines):
        page = pages[number % 2]
        expect(page.get_by_role("status")).to_contain_text("open")
        fill(page, "Send", Your_message=line)
        expect(pages[0].get_by_text(line)).to_be_visible()
    take(pages[0], "chat")


def workshop(browser: Browser, server: Server) -> None:
    board = f"/%3Fday={DAY}"
    ada, grace = (sign_in(browser, server, name, board) for name in ("ada", "grace"))
    for page, slot in ((ada, "lathe at 10"), (grace, "laser at 11"), (grace, "loom at 14")):
        page.goto(f"{server.url}/?day={DAY}")
        page.get_by_role("button", name=f"free, {slot}:00").click()
        fill(page, "Book it", **{"What will you make?": "a bowl"})
        page.wait_for_url("**/mine")
    ada.goto(f"{server.url}/?day={DAY}")
    expect(ada.get_by_role("status")).to_have_text("live")
    take(ada, "workshop")


def main() -> None:
    """Take all pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, open_browser() as browser:
        folder = Path(name)
        starter(browser, folder)
        record(browser, folder, PICTURES / "edit.webp")
        for example in (guestbook, notes, assistant, chat, workshop):
            project = copy_example(example.__name__, folder)
            fx("build", cwd=project)
            if example in (assistant, workshop):
                fx("db", "up", cwd=project)
            if example in (chat, workshop):
                for person in ("ada", "grace"):
                    account = (f"{person}@example.org", "--password", PASSWORD)
                    fx("auth", "create-user", *account, cwd=project)
            with served(project) as server:
                example(browser, server)


if __name__ == "__main__":
    main()
