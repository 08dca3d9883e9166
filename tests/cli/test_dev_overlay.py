"""Errors cover the page, with their place, until they are corrected."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.in_browser import (
    HeldLine,
    edit,
    hydrated,
    import_note,
    open_home,
    place_of,
    wait_for,
    wait_for_text,
    wait_until,
)
from tests.e2e.accessible import assert_accessible
from tests.e2e.support import Server, visit
from tests.short import amount

pytestmark = [pytest.mark.browser, pytest.mark.shared_dev]

OPEN = re.compile("open in the editor$")
"""The name of the link of a place, beside that of the timings."""


def test_the_overlay_has_an_error_until_it_is_corrected(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    hydrated(page)
    overlay = page.locator("fx-overlay")

    edit(project, "@server\nasync def", "@server\ndef")
    expect(overlay.get_by_role("link", name=OPEN)).to_have_text(place_of(project, "load(request)"))
    expect(page.locator("h1")).to_have_text("Notes")  # what was right before is served
    edit(project, "@server\ndef", "@server\nasync def")
    expect(overlay).to_have_count(0)

    edit(project, "<h1>Notes</h1>", "<h1>Notes<h1>")
    expect(overlay.locator("section > pre")).to_contain_text("<h1>Notes<h1>")
    edit(project, "<h1>Notes<h1>", "<h1>Notes again</h1>")
    expect(page.locator("h1")).to_have_text("Notes again")
    expect(overlay).to_have_count(0)


def test_the_stack_of_an_error_on_import_begins_at_the_page_file(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    hydrated(page)
    overlay = page.locator("fx-overlay")

    edit(project, "NOTES = []", "NOTES = 1 / 0")

    expect(overlay.locator("p")).to_have_text("ZeroDivisionError: division by zero")
    expect(overlay.locator("section > pre")).to_contain_text("NOTES = 1 / 0")
    folded = overlay.locator("details")
    expect(folded.locator("pre")).not_to_be_visible()
    folded.locator("summary").click()
    stack = folded.locator("pre").inner_text().splitlines()
    assert stack[1].strip().startswith('File "pages/index.fxl", line ')
    edit(project, "NOTES = 1 / 0", "NOTES = []")
    expect(overlay).to_have_count(0)


def test_an_error_of_a_loader_has_place_frame_remedy_and_request(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    hydrated(page)

    edit(project, '{"notes": NOTES}', '{"notes": NOTES[99]}')
    place = place_of(project, "NOTES[99]")
    fresh = visit(browser).page
    fresh.goto(server.url)
    for tab in (page, fresh):
        overlay = tab.locator("fx-overlay")
        expect(overlay.get_by_role("link", name=OPEN)).to_have_text(place)
        expect(overlay.get_by_role("link", name=OPEN)).to_have_attribute(
            "href", f"vscode://file{project}/{place}"
        )
        expect(overlay.locator("p")).to_have_text("IndexError: list index out of range")
        expect(overlay.locator("section > pre")).to_contain_text(
            '18 |     return {"notes": NOTES[99]}'
        )
        expect(overlay.locator("details > pre")).to_contain_text('File "pages/index.fxl", line 18')
        expect(overlay.locator("em")).to_contain_text("Fix it and save")
        request = overlay.locator("small").inner_text().removeprefix("Request ")
        wait_for(server, f"[request {request}]")
    edit(project, '{"notes": NOTES[99]}', '{"notes": NOTES}')

    for tab in (page, fresh):
        expect(tab.locator("fx-overlay")).to_have_count(0)
        expect(tab.locator("h1")).to_have_text("Notes")


def test_the_overlay_has_errors_of_renders_and_actions_until_they_are_corrected(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    hydrated(page)
    overlay = page.locator("fx-overlay")

    edit(project, "<h1>Notes</h1>", "<h1>{data.nothing.here}</h1>")
    for _ in range(2):  # in the open page, and in a fresh document of it
        expect(overlay.get_by_role("link", name=OPEN)).to_have_text(place_of(project, "here}</h1>"))
        expect(overlay.locator("section > pre")).to_contain_text("<h1>{data.nothing.here}</h1>")
        page.reload()
    edit(project, "<h1>{data.nothing.here}</h1>", "<h1>Notes</h1>")
    expect(overlay).to_have_count(0)
    expect(page.locator("h1")).to_have_text("Notes")

    edit(project, "    text = str(body", '    raise KeyError("boom")\n    text = str(body')
    wait_for(server, "1 module run")
    page.get_by_role("button", name="Add").click()
    expect(overlay.locator("p")).to_have_text("KeyError: 'boom'")
    expect(overlay.get_by_role("link", name=OPEN)).to_have_text(place_of(project, "raise KeyError"))
    expect(overlay.locator("h2")).to_have_text("pages/index.fxl: add_note() failed")
    edit(project, '    raise KeyError("boom")\n', "")
    expect(overlay).to_have_count(0)


def test_a_phone_shows_long_lines_of_an_error_without_a_wider_page(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    hydrated(page)
    page.set_viewport_size({"width": 390, "height": 844})
    overlay = page.locator("fx-overlay")
    long = (
        "<h1>{data.nothing.here /* " + "so long a line that no phone has room for it " * 3 + "*/}"
    )

    error_page = project / "pages/error.fxl"
    text = error_page.read_bytes()
    error_page.unlink()  # so that the page shows the one of the framework
    try:
        edit(project, "<h1>Notes", long)
        code = overlay.locator("section > pre")
        expect(code).to_contain_text(long)
        assert code.evaluate("element => element.scrollWidth > element.clientWidth")
        expect(page.locator("main[role=alert] > pre")).to_contain_text("TypeError")
        page.evaluate("for (const sheet of document.styleSheets) sheet.disabled = true")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
    finally:
        error_page.write_bytes(text)
        edit(project, long, "<h1>Notes")
    expect(overlay).to_have_count(0)
    expect(page.locator("h1")).to_have_text("Notes")


def test_an_error_page_that_connects_after_the_correction_reloads(
    browser: Browser, server: Server, project: Path
) -> None:
    line = HeldLine()
    page = visit(browser).page
    page.route_web_socket("**/@hot", line.hold)
    edit(project, "<h1>Notes</h1>", "<h1>{data.nothing.here}</h1>")
    wait_for(server, "updated in")
    page.goto(server.url)
    expect(page.locator("h1")).to_have_text("Something went wrong")
    wait_until(page, lambda: bool(line.held))
    now = page.evaluate("performance.now()")

    edit(project, "<h1>{data.nothing.here}</h1>", "<h1>Notes</h1>")
    wait_for(server, "updated in", 2)
    # Longer than from the request to the change, which its age on arrival would hide.
    changed = page.evaluate("performance.now()")
    page.wait_for_function(f"performance.now() > {now + changed}")
    line.release()

    expect(page.locator("h1")).to_have_text("Notes")


def test_an_error_of_a_loader_is_reported_though_the_client_half_is_right(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    hydrated(page)
    overlay = page.locator("fx-overlay")
    file = project / "pages/index.fxl"
    right = file.read_text("utf-8")
    wrong = right.replace('{"notes": NOTES}', '{"notes": NOTES[99]}')

    for number in range(amount(3, long=8)):
        file.write_text(wrong.replace("<h1>Notes</h1>", f"<h1>Notes {number}</h1>"), "utf-8")
        expect(page.locator("h1")).to_have_text(f"Notes {number}")
        expect(overlay.locator("p")).to_contain_text("IndexError")
        wait_for(server, "updated in", 2 * number + 1)
        expect(overlay.locator("p")).to_contain_text("IndexError")
        file.write_text(right.replace("<h1>Notes</h1>", f"<h1>Right {number}</h1>"), "utf-8")
        expect(page.locator("h1")).to_have_text(f"Right {number}")
        expect(overlay).to_have_count(0)


def test_what_server_and_browser_render_differently_is_named(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    overlay = page.locator("fx-overlay")
    heading = "<h1>Notes</h1>"
    cases = {
        "<h1>On {typeof window}</h1>": "In <h1> the server has undefined, "
        "and the browser renders object.",
        "{typeof window === 'object' ? <h2>Notes</h2> : <h1>Notes</h1>}": "In <Home> the server "
        "has <h1>, and the browser renders <h2>.",
        "<h1 title={typeof window}>Notes</h1>": 'In <h1> the server has title="undefined", '
        'and the browser renders title="object".',
    }

    for number, (text, message) in enumerate(cases.items(), 1):
        edit(project, heading, f"{text}<p>case {number}</p>")
        wait_for_text(server, f"case {number}")  # a page that takes the new code later hydrates
        page.reload()
        expect(overlay.locator("p")).to_have_text(message)
        expect(overlay.locator("em")).to_contain_text("<ClientOnly>")
        at = place_of(project, "<h2>" if "<h2>" in text else "<h1")
        expect(overlay.get_by_role("link", name=OPEN)).to_have_text(at)
        expect(overlay.locator("section > pre")).to_contain_text(text)
        heading = f"{text}<p>case {number}</p>"
    edit(project, heading, "<h1>Notes</h1>")
    expect(overlay).to_have_count(0)


def test_an_error_in_the_browser_has_its_place(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    hydrated(page)
    overlay = page.locator("fx-overlay")
    throwing = "<h1 onClick={() => { throw new Error('clicked') }}>Notes!</h1>"

    edit(project, "<h1>Notes</h1>", throwing)
    page.get_by_text("Notes!").click()
    expect(overlay.locator("p")).to_have_text("clicked")
    expect(overlay.get_by_role("link", name=OPEN)).to_have_text(
        place_of(project, "new Error('clicked')")
    )
    expect(overlay.locator("section > pre")).to_contain_text("throw new Error('clicked')")
    dialog = overlay.get_by_role("dialog", name="Problems")
    expect(dialog).to_be_focused()
    code, folded = dialog.locator("section > pre"), dialog.locator("summary")
    stops = (
        dialog.get_by_role("link", name="Timings"),
        dialog.get_by_role("button", name="Copy"),
        dialog.get_by_role("button", name="Close"),
    )
    for stop in (*stops, dialog.get_by_role("link", name=OPEN), code, folded, *stops):
        page.keyboard.press("Tab")
        expect(stop).to_be_focused()
    assert_accessible(page)
    page.keyboard.press("Escape")  # what is below it may be looked at
    expect(overlay).to_have_count(0)
    page.get_by_text("Notes!").click()
    expect(overlay).to_have_count(1)
    page.keyboard.press("Escape")
    page.reload()
    hydrated(page)
    page.get_by_text("Notes!").click()
    expect(page.locator("fx-badge")).to_have_count(1)  # it was closed before the reload
    expect(overlay).to_have_count(0)
    page.get_by_text("Notes!").click()
    expect(overlay).to_have_count(1)
    edit(project, throwing, "<h1>Notes</h1>")
    expect(overlay).to_have_count(0)


def test_the_overlay_displays_a_module_that_throws_until_it_is_corrected(
    browser: Browser, server: Server, project: Path
) -> None:
    part, layout = project / "components/note.jsx", project / "pages/layout.fxl"
    part.write_text("export const Note = () => <b>first</b>;\n", "utf-8")
    page = open_home(browser, server)
    hydrated(page)
    overlay = page.locator("fx-overlay")
    import_note(project)
    edit(project, "<h1>Notes</h1>", "<h1>Notes <Note /></h1>")
    expect(page.locator("h1")).to_have_text("Notes first")

    for number in range(2):
        part.write_text("null.x;\nexport const Note = () => <b>wrong</b>;\n", "utf-8")
        expect(overlay.locator("p")).to_contain_text("Cannot read properties of null")
        expect(overlay.get_by_role("link", name=OPEN)).to_have_text("components/note.jsx:1:6")
        layout.write_text(layout.read_text("utf-8").replace("Made with", "!Made with"), "utf-8")
        expect(page.locator("footer")).to_contain_text("!" * (number + 1) + "Made with")
        expect(overlay.get_by_role("link", name=OPEN)).to_have_text(
            "components/note.jsx:1:6"
        )  # that put nothing right
        part.write_text(f"export const Note = () => <b>part {number}</b>;\n", "utf-8")
        expect(page.locator("h1")).to_have_text(f"Notes part {number}")
        expect(overlay).to_have_count(0)

        right = f"<h1>Page {number} "
        edit(project, "export default", "null.x;\nexport default")
        expect(overlay.locator("p")).to_contain_text("Cannot read properties of null")
        edit(project, "null.x;\nexport default", "export default")
        expect(overlay).to_have_count(0)
        edit(project, "<h1>Notes ", right)
        expect(page.locator("h1")).to_have_text(f"Page {number} part {number}")
        edit(project, right, "<h1>Notes ")


def test_what_is_wrong_already_is_over_the_foot_of_a_page_that_is_loaded_then(
    browser: Browser, server: Server, project: Path
) -> None:
    page = open_home(browser, server)
    hydrated(page)

    edit(project, "<h1>Notes</h1>", "<h1>Notes<h1>")
    wait_for(server, "✗")
    page.reload()
    overlay = page.locator("fx-overlay")
    expect(overlay.locator("p")).to_contain_text("<h1> is never closed")
    at = "document.elementFromPoint(innerWidth * {}, innerHeight * {}).localName"
    for across in (0.1, 0.5, 0.9):
        assert page.evaluate(at.format(across, 0.95)) == "fx-overlay"
        assert page.evaluate(at.format(across, 0.05)) != "fx-overlay"  # the page can be seen
    box = overlay.locator("p").bounding_box()
    assert box is not None
    assert box["height"] > 10


def test_a_prefetched_page_that_fails_is_reported_on_navigation(
    browser: Browser, server: Server, project: Path
) -> None:
    about = project / "pages/about.fxl"
    text = about.read_text("utf-8")
    about.write_text(text.replace("    return {", "    return 1 / 0, {"), "utf-8")
    wait_for(server, "updated in")
    page = open_home(browser, server)
    hydrated(page)
    overlay = page.locator("fx-overlay")

    page.get_by_role("link", name="About").hover()
    wait_for(server, "pages/about.fxl failed")
    expect(overlay).to_have_count(0)
    page.get_by_role("link", name="About").click()
    expect(overlay.locator("p")).to_have_text("ZeroDivisionError: division by zero")
    about.write_text(text, "utf-8")
    expect(page.locator("h1")).to_have_text("About")
    expect(overlay).to_have_count(0)
