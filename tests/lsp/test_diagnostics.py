from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.lsp.editor import open_editor
from tests.lsp.problem_texts import displayed, printed
from tests.trees import write_tree
from tests.types.everything import write_everything

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.node


@pytest.fixture
def guestbook(tmp_path: Path) -> Path:
    folder = tmp_path / "guestbook"
    shutil.copytree(EXAMPLES / "guestbook", folder, ignore=shutil.ignore_patterns(".fx"))
    return folder


def whole(line: int, character: int, to: tuple[int, int], text: str) -> dict[str, Any]:
    end = {"line": to[0], "character": to[1]}
    return {"range": {"start": {"line": line, "character": character}, "end": end}, "text": text}


async def test_a_file_is_looked_at_while_it_is_written(guestbook: Path) -> None:
    async with open_editor(guestbook, imports=False) as editor:
        unsaved = {"uri": "untitled:one.fxl", "languageId": "fxl", "version": 1, "text": "x"}
        editor.connection.notify("textDocument/didOpen", {"textDocument": unsaved})
        uri = await editor.open(guestbook / "pages" / "about.fxl")
        await editor.until(lambda: editor.diagnostics.get(uri) == [])
        await editor.write(
            uri, 2, whole(0, 0, (0, 0), "# 🐍🐍\nasync def f():\n    return missing\n")
        )
        await editor.until(lambda: editor.versions.get(uri) == 2)
        (found,) = editor.diagnostics[uri]
        await editor.write(uri, 3, whole(0, 2, (1, 0), "x\n"), whole(2, 11, (2, 18), "0"))
        await editor.until(lambda: editor.versions.get(uri) == 3)
        cleared = editor.diagnostics[uri]

    assert found["message"] == "undefined name 'missing'. Define or import it, or write 'min'."
    assert found["range"] == whole(2, 11, (2, 18), "")["range"]
    assert cleared == []
    assert editor.diagnostics.keys() == {uri}


async def test_what_the_editor_shows_is_what_the_command_prints(guestbook: Path) -> None:
    pages = guestbook / "pages"
    broken = {
        "index.fxl": (pages / "index.fxl").read_text("utf-8").replace('"sign"', '"sing"'),
        "about.fxl": "import nothing_of_this_name\n" + (pages / "about.fxl").read_text("utf-8"),
        "half.fxl": "@server\nasync def load(request:\n    return {\n\nexport default function",
        "twice.fxl": 'const 😀 = "\n',
        "typed.fxl": "@server\nasync def load(request):\n    return {'count': 1}\n\n\n"
        "export default ({ data }) => <p>{data.cuont}</p>;\n",
        "merged.fxl": "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\n"
        'import "../site.css";\nexport default () => <p />;\n',
        "styled.fxl": 'import "../site.css";\nexport default () => <p />;\n',
        "late.fxl": "const text = '🐍🐍'; const late = nowhere;\nexport default () => late;\n",
    }
    for name, text in broken.items():
        (pages / name).write_text(text, "utf-8")
    marks = "<<<<<<< HEAD\na {}\n=======\nb {}\n>>>>>>> other\n"
    (guestbook / "site.css").write_text(marks, "utf-8")
    expected = await printed(guestbook)

    async with open_editor(guestbook) as editor:
        await editor.open(pages / "index.fxl")
        await editor.open(pages / "half.fxl")
        await editor.until(lambda: displayed(editor, guestbook) == expected)

    assert {path for path, *_ in expected} == {
        *(f"pages/{name}" for name in broken if name != "styled.fxl"),
        "site.css",
    }


@pytest.mark.nightly
async def test_all_pages_there_are_have_the_problems_that_the_commands_print(
    tmp_path: Path,
) -> None:
    pages = write_everything(tmp_path)
    expected = await printed(tmp_path)
    async with open_editor(tmp_path, deadline=400.0) as editor:
        for page in pages:
            await editor.open(page)
        await editor.until(lambda: displayed(editor, tmp_path) == expected)

    assert len(pages) >= 190
    assert len({path for path, *_ in expected}) >= 80


async def test_types_are_checked_while_a_page_is_written(tmp_path: Path) -> None:
    loader = "@server\nasync def load(request):\n    return {'count': 1}\n\n\n"
    plain = "export default ({ data }) => <p>{data.count}</p>;\n"
    typed = "const twice = (n: number) => 2 * n;\n" + plain.replace(
        "{data.count}", "{twice(data.count)}"
    )
    (tmp_path / "pages").mkdir()
    (tmp_path / "fx.config.json").write_text("{}", "utf-8")
    page = tmp_path / "pages" / "index.fxl"
    page.write_text(loader + plain, "utf-8")
    async with open_editor(tmp_path) as editor:
        uri = await editor.open(page)

        async def messages_after(version: int, ui: str, count: int) -> list[str]:
            await editor.write(uri, version, whole(5, 0, (99, 0), ui))
            await editor.until(
                lambda: (
                    editor.versions.get(uri) == version and len(editor.diagnostics[uri]) == count
                )
            )
            return [one["message"] for one in editor.diagnostics[uri]]

        wrong = await messages_after(2, plain.replace("count", "cuont"), 1)
        assert await messages_after(3, plain, 0) == []
        wrong += await messages_after(4, typed.replace("twice(data.count)", "twice(data)"), 1)
        assert await messages_after(5, typed, 0) == []
        await messages_after(6, typed + "const = ;\n", 1)
        wrong += await messages_after(7, plain.replace("count", "conut"), 1)

    assert wrong[0] == "there is no 'cuont' in data. Did you mean 'count'?"
    assert "is not assignable to parameter of type 'number'" in wrong[1]
    assert wrong[2] == "there is no 'conut' in data. Did you mean 'count'?"
    assert page.read_text("utf-8") == loader + plain


async def test_types_know_what_a_page_that_is_not_open_has_declared(tmp_path: Path) -> None:
    uses = "const shown: string = VERSION.name;\nexport default () => <p>{shown}</p>;\n"
    write_tree(
        tmp_path,
        {
            "fx.config.json": "{}",
            "declared.d.ts": "declare const VERSION: { name: string };\n",
            "pages/index.fxl": 'import "../declared.d.ts";\n' + uses,
            "pages/other.fxl": uses,
        },
    )
    async with open_editor(tmp_path) as editor:
        uri = await editor.open(tmp_path / "pages/other.fxl")
        await editor.write(uri, 2, whole(0, 0, (1, 0), "const shown: number = VERSION.name;\n"))
        await editor.until(lambda: bool(editor.diagnostics.get(uri)))
        (found,) = editor.diagnostics[uri]
    assert found["message"].startswith("Type 'string' is not assignable to type 'number'")


async def test_a_save_shows_what_it_means_for_other_files(guestbook: Path) -> None:
    layout = guestbook / "pages" / "layout.fxl"
    other = guestbook / "pages" / "about.tsx"
    async with open_editor(guestbook, imports=False) as editor:
        uri = await editor.open(layout)
        await editor.until(lambda: editor.diagnostics.get(uri) == [])
        other.write_text("export default function About() { return <p />; }\n", "utf-8")
        await editor.saved(uri)
        await editor.until(lambda: bool(editor.diagnostics.get(other.as_uri())))
        (found,) = editor.diagnostics[other.as_uri()]
        other.unlink()
        await editor.saved(uri)
        await editor.until(lambda: editor.diagnostics.get(other.as_uri()) == [])
        page = await editor.open(guestbook / "pages" / "about.fxl", "export default () => gtag;\n")
        await editor.until(lambda: bool(editor.diagnostics.get(page)))
        (unknown,) = editor.diagnostics[page]
        (guestbook / "globals.d.ts").write_text("declare const gtag: string;\n", "utf-8")
        await editor.saved(uri)
        await editor.until(lambda: editor.diagnostics.get(page) == [])

    assert found["message"].startswith("nothing imports it, and it is not a page")
    assert unknown["message"].startswith("undefined name 'gtag'")


async def test_findings_of_one_half_stay_while_the_other_is_written(guestbook: Path) -> None:
    about = guestbook / "pages" / "about.fxl"
    async with open_editor(guestbook, imports=False) as editor:
        uri = await editor.open(about, "x = 1\n\n\nexport default () => gtag;\n")
        await editor.until(lambda: len(editor.diagnostics.get(uri, ())) == 1)
        before = editor.diagnostics[uri]
        await editor.write(uri, 2, whole(0, 4, (0, 5), "missing"))
        await editor.until(lambda: editor.versions.get(uri) == 2)
        both = editor.diagnostics[uri]
        await editor.write(uri, 3, whole(0, 0, (0, 11), "gtag = 1"))
        await editor.until(lambda: editor.versions.get(uri) == 3)
        python = editor.diagnostics[uri]

    assert before[0] in both and len(both) == 2
    assert len(python) == 1
