"""Remedies for what belongs to the other half, to another framework, or to asyncio."""

from __future__ import annotations

import pytest

from fxtrio.compile.project import check_page
from fxtrio.compile.source import read_text

UI = "\nexport default function Page() { return null }\n"


def problems_of(text: str) -> list[str]:
    return [str(problem) for problem in check_page(read_text(text + UI, "pages/index.fxl"))[1]]


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("return {'ok': true}", "undefined name 'true'. Write 'True'."),
        ("return null", "undefined name 'null'. Write 'None'."),
        ("console.log(1)", "undefined name 'console'. Write 'print'."),
        ("return window.x", "undefined name 'window'. It is a name of the browser: use it in"),
        ("raise LoadError('x')", "Define or import it, or write 'LoaderError'."),
        ("// a comment", "A comment begins with '#' in the Python half."),
        ("return f'{a['b']}'", "Write other quotes inside of the braces than around the text."),
        ("await asyncio.sleep(1)", "'asyncio.sleep' does not work here: the server runs on trio."),
        ("asyncio.create_task(x())", "Write a nursery: trio.open_nursery(), or fx.tasks.enqueue"),
    ],
)
def test_words_of_elsewhere_are_recognised(line: str, remedy: str) -> None:
    text = f"import asyncio\n\nx = 1\na = {{}}\n\n@server\nasync def load(request):\n    {line}\n"

    if "f'" in line and not problems_of(text):  # nested quotes are fine since Python 3.12
        return
    [problem] = problems_of(text)
    assert remedy in problem
    assert problem.startswith("pages/index.fxl:8:")


@pytest.mark.parametrize("name", ["Server", "loader", "SERVER"])
def test_decorators_of_other_names_lead_to_server(name: str) -> None:
    [problem] = problems_of(f"@{name}\nasync def load(request):\n    return {{}}\n")

    assert problem == f"pages/index.fxl:1:2: undefined name {name!r}. Write 'server'."


def test_a_module_with_an_event_loop_of_its_own_may_use_asyncio() -> None:
    text = "import asyncio\n\nasync def work():\n    await asyncio.sleep(1)\n\n\ndef run():\n"

    assert problems_of(f"{text}    asyncio.run(work())\n") == []


def test_an_html_comment_is_recognised() -> None:
    found = check_page(read_text("export default () => <p><!-- x --></p>;\n", "pages/index.fxl"))[1]

    assert "Write a comment as {/* … */}." in str(found[0])
