"""Completion, hover, definition, references and rename between the halves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from fxtrio.tools.lsp.documents.positions import edited
from tests.lsp.editor import Editor, known, open_editor

pytestmark = pytest.mark.node

FILES = {
    "fx.config.json": "{}",
    "store.py": """\
from typing import TypedDict


class User(TypedDict):
    email: str


class Shared(TypedDict):
    user: User | None
""",
    "pages/layout.fxl": """\
from store import Shared


@server
async def load(request) -> Shared:
    return {"user": None}


export default function Layout({ data, children }) {
  return <main>{children}</main>;
}
""",
    "pages/index.fxl": """\
\"\"\"Entries 😀.\"\"\"
from typing import TypedDict

import attrs


class Author(TypedDict):
    name: str


class Entry(TypedDict):
    id: int
    title: str
    author: Author | None


class Data(TypedDict):
    entries: list[Entry]
    total: int


@attrs.frozen
class NewEntry:
    title: str


@server
async def load(request) -> Data:
    return {"entries": [], "total": 0}


def HEAD(data):
    return f"<title>{data['total']}</title>"


@action
async def sign(request, *, entry: NewEntry) -> Entry:
    \"\"\"Write an entry.\"\"\"
    return {"id": 1, "title": entry.title, "author": None}


import { Form, Link, navigate, useAction } from "fx/client";

function Card({ entry }) {
  return <p>{entry.title}</p>;
}

export default function Entries({ data: { entries, total } }) {
  const sign = useAction("sign");
  return (
    <>
      <p>😀 {total} {entries.length}</p>
      <Form action="sign">
        <input name="title" />
      </Form>
      {entries.map((entry) => (
        <Link key={entry.id} href={`/entries/${entry.id}?x=1`}>
          {entry.author?.name} <Card entry={entry} />
        </Link>
      ))}
      <button onClick={() => navigate("/about")}>About</button>
    </>
  );
}
""",
    "pages/about.fxl": """\
import { Form } from "fx/client";
export default function About({ layoutData }) {
  return <Form action="sign" page="/">{layoutData.user?.email}</Form>;
}
""",
    "pages/plain.fxl": """\
@server
async def load(request):
    rows = [{"name": "a", "size": 1}]
    return {"rows": rows, "count": 1}


def HEAD(data):
    return f"<title>{data['count']}</title>"


export default function Plain({ data }) {
  const { count } = data;
  return <p title={data.count}>{count} {data.rows.map((row) => row.name)}</p>;
}
""",
    "pages/entries/[id].fxl": """\
export default function Entry({ params }) {
  return <p>{params.id}</p>;
}
""",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return tmp_path


def place(text: str, before: str, *, occurrence: int = 0) -> tuple[int, int]:
    """Return the position behind ``before``, in UTF-16 units."""
    offset = -1
    for _ in range(occurrence + 1):
        offset = text.index(before, offset + 1)
    lines = text[: offset + len(before)].split("\n")
    return len(lines) - 1, len(lines[-1].encode("utf-16-le")) // 2


class Asking:
    """Asks about one file, by the text in front of a place."""

    def __init__(self, editor: Editor, root: Path, name: str) -> None:
        self.editor = editor
        self.root = root
        self.file = root / name
        self.text = FILES[name]

    async def __call__(self, method: str, before: str, occurrence: int = 0, **more: Any) -> Any:
        at = place(self.text, before, occurrence=occurrence)
        return await self.editor.ask(method, self.file.as_uri(), *at, **more)

    def texts_at(self, locations: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
        """Yield the file and the text of locations."""
        for one in locations:
            file = Path(one["uri"].removeprefix("file://").replace("%5B", "[").replace("%5D", "]"))
            name = file.relative_to(self.root).as_posix()
            start, end = one["range"]["start"], one["range"]["end"]
            line = FILES[name].split("\n")[start["line"]]
            wide = line.encode("utf-16-le")[start["character"] * 2 : end["character"] * 2]
            yield f"{name}:{start['line'] + 1}", wide.decode("utf-16-le")


async def test_completion_and_hover_cross_the_border(project: Path) -> None:
    async with open_editor(project) as editor:
        index = Asking(editor, project, "pages/index.fxl")
        uri = await editor.open(index.file)
        await known(editor, uri, place(index.text, "{entry.titl"))
        keys = await index("completion", "{entry.")
        pattern = await index("completion", "data: { ")
        actions = await index("completion", 'useAction("si')
        fields = await index("completion", "entry.author?.")
        links = await index("completion", 'navigate("/')
        hover = await index("hover", "{tot")
        about = await index("hover", 'navigate("/ab')
        action = await index("hover", 'action="si')
        nowhere = await index("hover", "clas")
        broken = index.text.replace("{entry.title}", "{entry.").replace("<Link ", "<Link {")
        await editor.write(uri, 2, {"text": broken})
        half_written = await editor.ask("completion", uri, *place(broken, "{entry."))

    assert [one["label"] for one in keys] == ["id", "title", "author"]
    assert [one["label"] for one in half_written] == ["id", "title", "author"]
    assert keys[2]["detail"] == "Author | null"
    assert [one["label"] for one in pattern] == ["entries", "total"]
    assert [one["label"] for one in actions] == ["sign"]
    assert [one["label"] for one in fields] == ["name"]
    assert [one["textEdit"]["newText"] for one in links] == [
        "/",
        "/about",
        "/entries/",
        "/plain",
    ]
    assert hover["contents"]["value"] == (
        "```ts\ntotal: number\n```\n\nFrom the loader, `pages/index.fxl:19`."
    )
    assert about["contents"]["value"] == "`/about` is the page `pages/about.fxl`."
    assert action["contents"]["value"] == (
        "```python\n@action\nasync def sign(request, *, entry: NewEntry) -> Entry\n```"
        "\n\nWrite an entry."
    )
    assert nowhere is None


async def test_definition_leads_from_the_ui_to_python_and_to_pages(project: Path) -> None:
    async with open_editor(project) as editor:
        index = Asking(editor, project, "pages/index.fxl")
        uri = await editor.open(index.file)
        about = Asking(editor, project, "pages/about.fxl")
        await editor.open(about.file)
        await known(editor, uri, place(index.text, "{entry.titl"))
        places = {
            before: list(asking.texts_at(await asking("definition", before)))
            for asking, before in (
                (index, "{tot"),
                (index, "{entry.ti"),
                (index, "author?.na"),
                (index, 'useAction("si'),
                (index, '<input name="ti'),
                (index, "`/entr"),
                (about, "user?.em"),
                (about, 'action="si'),
            )
        }
        moved = "# one more line\n" * 3 + index.text
        await editor.write(uri, 2, {"text": moved})
        after = await editor.ask("definition", uri, *place(moved, "{entry.ti"))

    assert places == {
        "{tot": [("pages/index.fxl:19", "total")],
        "{entry.ti": [("pages/index.fxl:13", "title")],
        "author?.na": [("pages/index.fxl:8", "name")],
        'useAction("si': [("pages/index.fxl:37", "sign")],
        '<input name="ti': [("pages/index.fxl:24", "title")],
        "`/entr": [("pages/entries/[id].fxl:1", "")],
        "user?.em": [("store.py:5", "email")],
        'action="si': [("pages/index.fxl:37", "sign")],
    }
    assert after[0]["range"]["start"] == {"line": 15, "character": 4}


def applied(project: Path, edit: dict[str, Any]) -> dict[str, str]:
    """Return the files that an edit changes, as they are then."""
    texts = {}
    for uri, changes in edit["changes"].items():
        name = Path(uri.removeprefix("file://")).relative_to(project).as_posix()
        # An editor makes them at once; from the last on, none moves another.
        latest = sorted(changes, key=lambda one: str(sorted(one["range"]["start"].items())))
        ordered = sorted(
            latest,
            key=lambda one: (one["range"]["start"]["line"], one["range"]["start"]["character"]),
            reverse=True,
        )
        texts[name] = FILES[name]
        for one in ordered:
            texts[name] = edited(texts[name], one["range"], one["newText"])
    return texts


async def test_an_action_is_renamed_in_both_halves_and_in_other_pages(project: Path) -> None:
    async with open_editor(project) as editor:
        index = Asking(editor, project, "pages/index.fxl")
        uri = await editor.open(index.file)
        await known(editor, uri, place(index.text, "{entry.titl"))
        prepared = await index("prepareRename", "async def si")
        edit = await index("rename", 'useAction("si', newName="write")
        same = await index("rename", "async def si", newName="write")
        with pytest.raises(JsonRpcException, match="has a name 'load' already"):
            await index("rename", 'useAction("si', newName="load")
        with pytest.raises(JsonRpcException, match="'a-b' is no name in both languages"):
            await index("rename", 'useAction("si', newName="a-b")
        with pytest.raises(JsonRpcException, match="an attribute of a class"):
            await index("rename", '<input name="ti', newName="heading")
        entry = Asking(editor, project, "pages/entries/[id].fxl")
        await editor.open(entry.file)
        with pytest.raises(JsonRpcException, match="rename the file"):
            await entry("rename", "params.i", newName="number")
        with pytest.raises(JsonRpcException, match="There is no name here that both halves use"):
            await index("prepareRename", "clas")

        plain = Asking(editor, project, "pages/plain.fxl")
        await editor.open(plain.file)
        count = await plain("rename", "data.co", newName="number")
        name = await plain("rename", "row.na", newName="label")

    assert applied(project, count)["pages/plain.fxl"] == (
        plain.text.replace('"count"', '"number"')
        .replace("['count']", "['number']")
        .replace("{ count }", "{ number: count }")
        .replace("data.count", "data.number")
    )
    assert applied(project, name)["pages/plain.fxl"] == (
        plain.text.replace('"name"', '"label"').replace("row.name", "row.label")
    )
    assert prepared["placeholder"] == "sign"
    assert edit == same
    texts = applied(project, edit)
    assert texts == {
        "pages/index.fxl": FILES["pages/index.fxl"]
        .replace("def sign", "def write")
        .replace('"sign"', '"write"'),
        "pages/about.fxl": FILES["pages/about.fxl"].replace('"sign"', '"write"'),
    }
