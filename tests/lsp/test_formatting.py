from __future__ import annotations

from difflib import SequenceMatcher
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygls.exceptions import JsonRpcException

from fxtrio.compile.bundling.installation import JS
from fxtrio.tools.format.ruff import RuffMissing
from fxtrio.tools.lsp.answers import formatting
from fxtrio.tools.lsp.answers.formatting import edits_between
from fxtrio.tools.lsp.documents.documents import Document
from fxtrio.tools.lsp.documents.positions import Range, edited, position_in
from tests.lsp.editor import Editor, open_editor

UNTIDY = """\
@server
async def load(request):
    return {'count':1}


import { Link } from "fx/client"
export default function Page({data}) {
  return <p>{ data.count }</p>
}
"""
TIDY = """\
@server
async def load(request):
    return {"count": 1}


import { Link } from "fx/client";
export default function Page({ data }) {
  return <p>{data.count}</p>;
}
"""
LINES = st.text(st.sampled_from("ab\r\n\x0c\u2028😀"), max_size=30)


@given(LINES, LINES)
def test_edits_lead_from_one_text_to_the_other(before: str, after: str) -> None:
    text = before
    for edit in reversed(edits_between(before, after)):
        ends = {"start": position_in(edit.range.start), "end": position_in(edit.range.end)}
        text = edited(text, ends, edit.new_text)

    assert text == after


async def formatted(editor: Editor, uri: str, text: str) -> str:
    params = {"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": True}}
    for edit in reversed(await editor.connection.ask("textDocument/formatting", params)):
        range_: Range = edit["range"]
        text = edited(text, range_, edit["newText"])
    return text


@pytest.mark.node
async def test_a_page_is_formatted_as_it_is_in_the_editor(tmp_path: Path) -> None:
    page = tmp_path / "pages" / "index.fxl"
    page.parent.mkdir()
    page.write_text("export default () => <p />\n")
    (tmp_path / "fx.config.json").write_text("{}")
    windows = UNTIDY.replace("\n", "\r\n")
    broken = UNTIDY.replace("{'count':1}", "{'count':")
    async with open_editor(tmp_path, imports=False) as editor:
        uri = await editor.open(page, UNTIDY)
        tidy = await formatted(editor, uri, UNTIDY)
        await editor.write(uri, 2, {"text": windows})
        with_carriage_returns = await formatted(editor, uri, windows)
        await editor.write(uri, 3, {"text": broken})
        same = await formatted(editor, uri, broken)
        await editor.until(lambda: any("not formatted. pages/index" in one for one in editor.lines))

    assert tidy == TIDY
    assert with_carriage_returns == TIDY.replace("\n", "\r\n")
    assert same == broken


@pytest.mark.node
async def test_prettier_stays_until_what_it_has_imported_changes(tmp_path: Path) -> None:
    page = tmp_path / "pages" / "index.fxl"
    page.parent.mkdir()
    page.write_text(UNTIDY)
    settings = tmp_path / "prettier.config.mjs"
    (tmp_path / "fx.config.json").write_text("{}")
    async with open_editor(tmp_path) as editor:
        uri = await editor.open(page, UNTIDY)
        tidy = await formatted(editor, uri, UNTIDY)
        first = formatters(editor)
        again = await formatted(editor, uri, UNTIDY)
        second = formatters(editor)
        (tmp_path / ".prettierrc").write_text("semi: false")
        plain = await formatted(editor, uri, UNTIDY)
        third = formatters(editor)
        (tmp_path / ".prettierrc").unlink()
        settings.write_text("export default { singleQuote: true };")
        code = await formatted(editor, uri, UNTIDY)
        fourth = formatters(editor)
        fourth[0].kill()
        killed = await formatted(editor, uri, UNTIDY)

    assert tidy == again == TIDY
    assert plain == TIDY.replace(";\n", "\n")
    assert code == killed == TIDY.replace('"fx/client"', "'fx/client'")
    assert first == second == third != fourth
    assert len(fourth) == 1


def formatters(editor: Editor) -> list[psutil.Process]:
    """Return the processes that format UI code."""
    children = psutil.Process(editor.process.pid).children(recursive=True)
    return [
        one for one in children if command_of(one)[-1:] == [str(JS / "editor" / "formatter.js")]
    ]


def command_of(process: psutil.Process) -> list[str]:
    """Return what a process runs; nothing of one that has ended and is not reaped yet."""
    try:
        words: list[str] = process.cmdline()
    except psutil.NoSuchProcess:
        return []
    return words


async def test_a_formatter_that_is_missing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    async def format_files(*_: object, **__: object) -> None:
        raise ExceptionGroup("formatters", [RuffMissing()])

    monkeypatch.setattr(formatting, "format_files", format_files)
    document = Document("file:///p/a.fxl", Path("/p/a.fxl"), 1, "")
    with pytest.raises(JsonRpcException, match="ruff: it formats Python, and is not installed"):
        await formatting.formatting_edits(document, Path("/p"), print)


def test_only_lines_beside_those_that_change_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []

    class Counting(SequenceMatcher[str]):
        def __init__(self, junk: None, old: list[str], new: list[str], auto: bool) -> None:
            compared.append(len(old) + len(new))
            super().__init__(junk, old, new, auto)

    monkeypatch.setattr(formatting, "SequenceMatcher", Counting)
    item = "  <li>\n    <p title={{{0}}}>\n{1}    </p>\n  </li>\n"
    before = "".join(item.format(number, "      {text }\n") for number in range(500))
    after = "".join(item.format(number, "      {text}\n") for number in range(500))
    edits = edits_between(before, after)

    assert [edit.new_text for edit in edits] == ["      {text}\n"] * 500
    assert max(compared) <= 12
    moved = "".join(f"import {name};\n" for name in "cabd")
    assert len(edits_between(moved, "".join(f"import {name};\n" for name in "abcd"))) == 2
