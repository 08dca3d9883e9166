from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.lsp.editor import open_editor

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


async def printed(root: Path) -> list[tuple[str, int, str]]:
    """Return what the commands print: path, line, and message with remedy.

    What both say of one place is told once.
    """
    found: dict[tuple[str, int, int], dict[str, Any]] = {}
    for name in ("check", "typecheck"):
        command = [sys.executable, "-m", "fxtrio", name, "--json"]
        done = await trio.run_process(command, cwd=root, capture_stdout=True, check=False)
        for one in json.loads(done.stdout)["problems"]:
            found.setdefault((one["path"], one["line"], one["column"]), one)
    return sorted(
        (one["path"], one["line"], f"{one['message']}. {one['remedy']}".removesuffix("."))
        for one in found.values()
    )


async def test_what_the_editor_shows_is_what_the_command_prints(guestbook: Path) -> None:
    pages = guestbook / "pages"
    broken = {
        "index.fxl": (pages / "index.fxl").read_text("utf-8").replace('"sign"', '"sing"'),
        "about.fxl": "import nothing_of_this_name\n" + (pages / "about.fxl").read_text("utf-8"),
        "half.fxl": "@server\nasync def load(request:\n    return {\n\nexport default function",
        "twice.fxl": 'const 😀 = "\n',
        "typed.fxl": "@server\nasync def load(request):\n    return {'count': 1}\n\n\n"
        "export default ({ data }) => <p>{data.cuont}</p>;\n",
        "late.fxl": "const text = '🐍🐍'; const late = nowhere;\nexport default () => late;\n",
    }
    for name, text in broken.items():
        (pages / name).write_text(text, "utf-8")
    expected = await printed(guestbook)

    def shown() -> list[tuple[str, int, str]]:
        return sorted(
            (
                Path(uri.removeprefix("file://")).relative_to(guestbook).as_posix(),
                found["range"]["start"]["line"] + 1,
                found["message"].removesuffix("."),
            )
            for uri, all_found in editor.diagnostics.items()
            for found in all_found
        )

    async with open_editor(guestbook) as editor:
        await editor.open(pages / "index.fxl")
        await editor.open(pages / "half.fxl")
        await editor.until(lambda: shown() == expected)

    assert {path for path, _, _ in expected} == {f"pages/{name}" for name in broken}


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

    assert found["message"].startswith("nothing imports it, and it is no page")
