"""Tags that close themselves, and names that are changed in pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lsp.editor import open_editor

pytestmark = pytest.mark.node

PAGE = """\
@server
async def load(request):
    return {"less": 1 < 2}


export default function Page({ data }) {
  const more = (n) => n > 2;
  return (
    <main>
      <ul className="a">
        |
      </ul>
      <>
        <p>{more(3)}</p>
      </>
    </main>
  );
}
"""


TAGS = {
    "<div>": "</div>",
    '<div onClick={() => 1} title="a > b">': "</div>",
    "<ui.Card>": "</ui.Card>",
    "<>": "</>",
    "<li>one</": "li>",
    "<li><b>one</b></": "li>",
    "<></": ">",
    "<br />": None,
    "<li>one</li>": None,
    "{data.less >": None,
    "{(n) =>": None,
}
"""What is typed last, and what closes it."""


async def test_a_tag_is_closed(tmp_path: Path) -> None:
    page = tmp_path / "pages" / "index.fxl"
    page.parent.mkdir()
    before, after = PAGE.split("|")
    options = {"tabSize": 2, "insertSpaces": True}
    async with open_editor(tmp_path, imports=False) as editor:
        uri = await editor.open(_saved(page))
        for version, (written, closing) in enumerate(TAGS.items(), 2):
            text = before + written
            place = {"line": text.count("\n"), "character": len(text.rpartition("\n")[2])}
            await editor.write(uri, version, {"text": text + after})
            more: dict[str, Any] = {"ch": written[-1], "options": options}
            edits = await editor.ask("onTypeFormatting", uri, *place.values(), **more)
            params = {"textDocument": {"uri": uri}, "position": place}
            snippet = await editor.connection.ask("fx/closeTag", params)

            expected = {"range": {"start": place, "end": place}, "newText": closing}
            assert edits == (None if closing is None else [expected]), written
            assert snippet == closing, written


async def test_both_names_of_an_element_are_linked(tmp_path: Path) -> None:
    page = tmp_path / "pages" / "index.fxl"
    page.parent.mkdir()
    async with open_editor(tmp_path, imports=False) as editor:
        uri = await editor.open(_saved(page), PAGE.replace("|", ""))
        opening = await editor.ask("linkedEditingRange", uri, 9, 8)
        closing = await editor.ask("linkedEditingRange", uri, 11, 9)
        elsewhere = await editor.ask("linkedEditingRange", uri, 6, 10)

    names = [(one["start"]["line"], one["start"]["character"]) for one in opening["ranges"]]
    assert names == [(9, 7), (11, 8)]
    assert closing == opening
    assert elsewhere is None


def _saved(page: Path) -> Path:
    page.write_text("export default () => <p />;\n", "utf-8")
    return page
