"""The outline of a page, and the search through a project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fxtrio.tools.lsp.answers.document_symbols import SavedFiles
from fxtrio.tools.lsp.answers.project_texts import CLIENT_CODE, texts_of
from tests.lsp.editor import known, open_editor
from tests.lsp.test_across import FILES, Asking, place
from tests.trees import write_tree

pytestmark = pytest.mark.node


def names(symbols: list[dict[str, Any]], depth: int = 0) -> list[str]:
    """Return an outline as lines."""
    lines = []
    for one in symbols:
        detail = f" {one['detail']}" if one.get("detail") else ""
        lines.append("  " * depth + one["name"] + detail)
        lines += names(one.get("children", []), depth + 1)
    return lines


async def test_the_outline_has_both_halves(tmp_path: Path) -> None:
    write_tree(tmp_path, FILES)
    async with open_editor(tmp_path) as editor:
        index = Asking(editor, tmp_path, "pages/index.fxl")
        uri = await editor.open(index.file)
        params = {"textDocument": {"uri": uri}}
        found = await editor.connection.ask("textDocument/documentSymbol", params)

    assert names(found) == [
        *("Author", "  name", "Entry", "  id", "  title", "  author"),
        *("Data", "  entries", "  total", "NewEntry", "  title"),
        *("load @server", "HEAD", "sign @action", "Card", "Entries export"),
    ]
    texts = {
        one["name"]: next(
            text for _, text in index.texts_at([{"uri": uri, "range": one["selectionRange"]}])
        )
        for one in found
    }
    assert all(name == text for name, text in texts.items())
    for one in found:
        start, end = one["range"]["start"]["line"], one["range"]["end"]["line"]
        assert start <= one["selectionRange"]["start"]["line"] <= end


async def test_a_search_finds_pages_and_what_they_declare(tmp_path: Path) -> None:
    write_tree(tmp_path, FILES)
    async with open_editor(tmp_path) as editor:
        index = Asking(editor, tmp_path, "pages/index.fxl")
        uri = await editor.open(index.file)
        await known(editor, uri, place(index.text, "{entry.titl"))

        async def search(query: str) -> list[str]:
            found = await editor.connection.ask("workspace/symbol", {"query": query})
            return [f"{one['containerName']} {one['name']}" for one in found]

        entries, page, plain, none = [await search(one) for one in ("entry", "/entr", "PLN", "zzz")]

    assert entries == [
        "pages/entries/[id].fxl Entry",
        "pages/index.fxl Entry",
        "pages/index.fxl NewEntry",
    ]
    assert page == ["pages/entries/[id].fxl /entries/[id]"]
    assert plain == ["pages/plain.fxl /plain", "pages/plain.fxl Plain"]
    assert none == []


async def test_a_search_finds_components_in_files_of_their_own(tmp_path: Path) -> None:
    parts = {
        "parts/badge.tsx": 'import { COLOURS } from "./colours.js";\n\n'
        "/** Short. */\nexport function Badge({ text }: { text: string }) {\n"
        "  return <b style={COLOURS}>{text}</b>;\n}\n",
        "parts/colours.js": "export const COLOURS = {};\n",
    }
    write_tree(tmp_path, {**FILES, **parts})
    async with open_editor(tmp_path) as editor:
        index = Asking(editor, tmp_path, "pages/index.fxl")
        uri = await editor.open(index.file)
        await known(editor, uri, place(index.text, "{entry.titl"))
        badges = await editor.connection.ask("workspace/symbol", {"query": "badg"})
        colours = await editor.connection.ask("workspace/symbol", {"query": "colour"})

    assert [(one["name"], one["containerName"]) for one in badges] == [("Badge", "parts/badge.tsx")]
    location = badges[0]["location"]
    assert location["uri"] == (tmp_path / "parts/badge.tsx").as_uri()
    assert location["range"] == {
        "start": {"line": 3, "character": 16},
        "end": {"line": 3, "character": 21},
    }
    assert [(one["name"], one["containerName"]) for one in colours] == [
        ("COLOURS", "parts/colours.js")
    ]


def test_what_is_built_or_ignored_is_not_searched(tmp_path: Path) -> None:
    bundle = "export const Part = 1;\n"
    write_tree(
        tmp_path,
        {
            ".git/HEAD": "ref: refs/heads/main\n",
            ".gitignore": "/generated/\n",
            **{f"app/{folder}/a{n}.js": bundle for folder in ("build", "dist") for n in range(501)},
            "generated/above.js": bundle,
            "app/generated/part.js": bundle,
            "app/made/.gitignore": "*\n!kept.js\n",
            "app/made/part.js": bundle,
            "app/made/kept.js": bundle,
            "app/parts/build/part.js": bundle,
            "app/parts/.gitignore": "*.min.js\n",
            "app/parts/part.min.js": bundle,
            "app/pages/part.jsx": bundle,
        },
    )
    root = tmp_path / "app"
    found = [file.relative_to(root).as_posix() for file, _ in texts_of(root, CLIENT_CODE)]
    assert found == [
        "generated/part.js",
        "made/kept.js",
        "pages/part.jsx",
        "parts/build/part.js",
    ]


def test_a_project_in_a_folder_that_git_ignores_is_searched(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            ".git/HEAD": "ref: refs/heads/main\n",
            ".gitignore": "/playground/\n",
            "playground/app/parts/part.js": "export const Part = 1;\n",
        },
    )
    found = [file.name for file, _ in texts_of(tmp_path / "playground/app", CLIENT_CODE)]
    assert found == ["part.js"]


async def test_a_file_that_nobody_could_look_at_is_looked_at_again(tmp_path: Path) -> None:
    write_tree(tmp_path, {"parts/badge.js": "export const Badge = 1;\n"})
    place = {"start": {"line": 0, "character": 13}, "end": {"line": 0, "character": 18}}
    badge = {"name": "Badge", "kind": "variable", "exported": True, "range": place, "whole": place}
    answers = [None, [badge]]

    class Restarting:
        async def symbols_of_module(self, *_: object) -> list[dict[str, Any]] | None:
            return answers.pop(0)

    no_pages: Any = None
    analyst: Any = Restarting()
    saved = SavedFiles(no_pages)
    assert await saved.modules_of(tmp_path, analyst) == {"parts/badge.js": []}
    found = await saved.modules_of(tmp_path, analyst)
    assert [one["name"] for one in found["parts/badge.js"]] == ["Badge"]
    assert await saved.modules_of(tmp_path, analyst) == found
