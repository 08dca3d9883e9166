"""Questions about one language, passed on to a server of that language."""

from __future__ import annotations

import os
import signal
import sys
import sysconfig
from pathlib import Path

import pytest
import trio
from pygls.exceptions import JsonRpcException

from fxtrio.tools.lsp.answers.map_results import as_it_is
from fxtrio.tools.lsp.documents.page import parse_page
from fxtrio.tools.lsp.documents.virtual_document import Projection, language_at, project
from fxtrio.tools.lsp.processes import delegated_servers
from fxtrio.tools.lsp.processes.delegated_servers import (
    ADVICE,
    DelegatedServers,
    find_python_server,
)
from fxtrio.tools.lsp.project_index import ProjectIndex
from fxtrio.tools.types.ui.virtual_ui import Shift
from tests.lsp.editor import known, open_editor
from tests.lsp.test_across import FILES, Asking, applied, place

pytestmark = pytest.mark.node

PYTHON = [sys.executable, "-m", "pylsp"]
TEXT = FILES["pages/index.fxl"]


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return tmp_path


def test_a_half_keeps_its_positions_but_for_insertions() -> None:
    page = parse_page(Path("/p"), "pages/index.fxl", TEXT)
    python, ui = project(page, "python"), project(page, "typescript")
    lines = TEXT.split("\n")

    assert python.added == 0
    for number, line in enumerate(lines):
        there = python.there({"line": number, "character": 1})
        assert python.back(there) == {"line": number, "character": 1}
        typed_line = python.text.split("\n")[there["line"]]
        plain = typed_line.replace(": fx__Request", "")
        assert plain == (line if language_at(page, number) == "python" else "")
    assert python.back({"line": 0, "character": 4}) is None
    assert ui.text.split("\n")[45:] == lines[45:]


def test_insertions_come_behind_imports_from_the_future() -> None:
    text = '"""Doc."""\nfrom __future__ import annotations\n@server\nasync def load(request):\n'
    half = project(parse_page(Path("/p"), "pages/index.fxl", f"{text}    return {{\n"), "python")

    assert half.added == 2
    assert "server" in half.text.split("\n")[2]
    assert half.text.split("\n")[1:4] == [
        "from __future__ import annotations",
        half.text.split("\n")[2],
        "@server",
    ]


async def test_a_server_for_python_answers_in_the_server_half(pages: Path) -> None:
    async with open_editor(pages, python=PYTHON) as editor:
        index = Asking(editor, pages, "pages/index.fxl")
        uri = await editor.open(index.file)
        await known(editor, uri, place(TEXT, "{entry.titl"))
        hover = await index("hover", "async def lo")
        definition = list(index.texts_at(await index("definition", "entry: NewEn")))
        typed = TEXT.replace("import attrs\n", "import attrs\nimport store\nstore.\n")
        await editor.write(uri, 2, {"text": typed})
        completion = await editor.ask("completion", uri, *place(typed, "store."))
        unfinished = TEXT.replace('    return {"entries"', '    request.qu\n    return {"entries"')
        await editor.write(uri, 3, {"text": unfinished})
        request = await editor.ask("completion", uri, *place(unfinished, "request.qu"))
        await editor.write(uri, 4, {"text": TEXT})
        await editor.saved(uri)
        edit = await index("rename", '<input name="ti', newName="heading")
        with pytest.raises(JsonRpcException, match="a key of a TypedDict"):
            await index("rename", "{entry.ti", newName="heading")
    (renamed,) = applied(pages, edit).values()

    assert "load" in str(hover["contents"])
    assert definition == [("pages/index.fxl:23", "NewEntry")]
    assert {"User", "Shared"} <= {one["label"] for one in completion}
    assert "query_params" in {one["label"] for one in request}
    assert renamed == (
        TEXT.replace("class NewEntry:\n    title", "class NewEntry:\n    heading")
        .replace("entry.title, ", "entry.heading, ")
        .replace('<input name="title"', '<input name="heading"')
    )


async def test_typescript_answers_in_the_client_half_with_the_types_of_the_page(
    pages: Path,
) -> None:
    async with open_editor(pages) as editor:
        index = Asking(editor, pages, "pages/index.fxl")
        uri = await editor.open(index.file)
        await known(editor, uri, place(TEXT, "{entry.titl"))
        typed = TEXT.replace("{entries.length}", "{entries.le} {entries[0].title.toUp}")
        await editor.write(uri, 2, {"text": typed})
        texts = set[str]()
        while "toUpperCase" not in texts:  # the server is there when types have been checked
            found = await editor.ask("completion", uri, *place(typed, "title.toUp"))
            texts = {one["label"] for one in found}
        lists = await editor.ask("completion", uri, *place(typed, "entries.le"))
        hover = await editor.ask("hover", uri, *place(typed, "const si"))
        (definition,) = await editor.ask("definition", uri, *place(typed, "<Ca"))
        edit = await editor.ask("rename", uri, *place(typed, "<Ca"), newName="Box")
        begun = TEXT.replace("const sign = ", "const sign = useAc || ")
        await editor.write(uri, 3, {"text": begun})
        words = await editor.ask("completion", uri, *place(begun, "const sign = useAc"))

    assert "length" in {one["label"] for one in lists}
    assert "sign" in str(hover["contents"])
    assert definition["uri"] == uri
    assert typed.split("\n")[definition["range"]["start"]["line"]].startswith("function Card(")
    assert [len(changes) for changes in edit["changes"].values()] == [2]
    assert list(edit["changes"]) == [uri]
    assert "useAction" in {one["label"] for one in words}
    assert len(words) < 50


def test_an_insertion_into_a_line_keeps_the_positions_behind_it() -> None:
    text = "/** @type {😀} */ (a)"
    half = Projection("typescript", Path("/p"), text, shifts=(Shift(1, 1, 17),))

    assert half.there({"line": 0, "character": 1}) == {"line": 0, "character": 19}
    assert half.back({"line": 0, "character": 19}) == {"line": 0, "character": 1}
    assert half.back({"line": 0, "character": 5}) is None


async def test_an_installed_server_for_python_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(own))
    monkeypatch.setenv("PATH", str(other))
    found = [find_python_server()]
    for folder, name in ((other, "pyright-langserver"), (own, "ty")):
        folder.mkdir()
        (folder / name).touch(0o755)
        found.append(find_python_server())

    assert found == [
        (),
        (str(other / "pyright-langserver"), "--stdio"),
        (str(own / "ty"), "server"),
    ]


async def test_without_a_server_for_python_the_log_says_once_how_to_have_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def take(*_: object) -> None:
        raise AssertionError("nothing is checked")

    monkeypatch.setattr(delegated_servers, "find_python_server", tuple)
    messages: list[str] = []
    others = DelegatedServers(messages.append, ProjectIndex(messages.append, take))
    page = parse_page(tmp_path, "pages/index.fxl", TEXT)
    start = {"line": 0, "character": 0}
    for _ in range(2):
        assert await others.ask("textDocument/hover", page, start, as_it_is) is None

    assert messages == [ADVICE]


def test_types_of_requests_keep_places() -> None:
    text = TEXT.replace("async def load(request)", "async def load(req)")
    half = project(parse_page(Path("/p"), "pages/index.fxl", text), "python")
    line, character = place(text, "async def load(req")
    signature = half.text.split("\n")[line + 1]

    assert signature == "async def load(req: fx__Request) -> Data:"
    assert "async def sign(request: fx__Request, *," in half.text
    for at in range(len(signature) - len(": fx__Request") + 1):
        here = {"line": line, "character": at}
        assert half.back(half.there(here)) == here
    assert half.back({"line": line + 1, "character": character + 3}) is None


async def test_a_server_that_dies_is_started_again(pages: Path) -> None:
    script = pages / "server.py"
    script.write_text(f"import os\nopen('pids', 'a').write(f'{{os.getpid()}}\\n')\n{RUN}")
    async with open_editor(pages, python=[sys.executable, str(script)]) as editor:
        index = Asking(editor, pages, "pages/index.fxl")
        await editor.open(index.file)
        first = await index("hover", "async def lo")
        pid = int((await trio.Path(pages / "pids").read_text()).split()[-1])
        os.kill(pid, signal.SIGKILL)
        await editor.until(lambda: any("it restarts" in line for line in editor.lines))
        second = await index("hover", "async def lo")

    assert first is not None
    assert first == second
    assert any("it has ended with -9" in line for line in editor.lines)


RUN = "import sys\nsys.argv = ['pylsp']\nfrom pylsp.__main__ import main\nmain()\n"
