"""What an editor offers to do about a diagnostic."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from fxtrio.tools.lsp.answers.quick_fixes import quick_fixes
from fxtrio.tools.lsp.documents.page import parse_page
from fxtrio.tools.lsp.documents.positions import edited
from tests.lsp.editor import Editor, open_editor
from tests.trees import write_tree

PAGE = '''\
"""A page."""
from store import titles

@server
async def load(request):
    return {"count": 1, "at": Path("/"), "all": titles(), "now": Decimal(1), "no": null}

@action
async def sign(request):
    return {}

import { Link } from "fx/client";

export default function Page({ data }) {
  const [open] = useState(false);
  const sign = useAction("sing");
  return <p title={data.cuont}>{opne}<Card /><Lnik /><Form action="sign" /><Badge /></p>;
}
'''
FILES = {
    "fx.config.json": "{}",
    "store.py": "def titles():\n    return []\n\n\nclass Book:\n    pass\n",
    "components/card.jsx": "export default function Card() {\n  return <p />;\n}\n",
    "components/badge.jsx": "export function Badge() {\n  return <p />;\n}\n",
    "pages/index.fxl": PAGE,
}


def applied(text: str, action: dict[str, Any]) -> str:
    (edits,) = action["edit"]["changes"].values()
    ordered = sorted(edits, key=lambda one: tuple(one["range"]["start"].values()), reverse=True)
    for one in ordered:
        text = edited(text, one["range"], one["newText"])
    return text


async def offered(editor: Editor, uri: str) -> list[dict[str, Any]]:
    found = editor.diagnostics[uri]
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    params = {"textDocument": {"uri": uri}, "range": whole, "context": {"diagnostics": found}}
    actions: list[dict[str, Any]] = await editor.connection.ask("textDocument/codeAction", params)
    return actions


FIXED = (
    'import Card from "../components/card.jsx";\n',
    'import { Badge } from "../components/badge.jsx";\n',
    'import { useState } from "react";',
    'import { Link, useAction, Form } from "fx/client"',
    "from pathlib import Path\n",
    "from decimal import Decimal\n",
    'useAction("sign")',
    "data.count}>{open}<Card /><Link />",
    '"no": None}',
)
"""Parts of the page when each fix has been applied."""


def is_replaced(editor: Editor, uri: str, found: list[dict[str, Any]]) -> bool:
    return editor.diagnostics[uri] is not found


def is_displayed(editor: Editor, uri: str, version: int) -> bool:
    return editor.versions[uri] == version


def test_a_name_that_the_compiler_does_not_find_has_the_fix_of_an_undefined_one(
    tmp_path: Path,
) -> None:
    text = "export default () => <Card><Card /></Card>;\n"
    write_tree(tmp_path, {**FILES, "pages/index.fxl": text})
    place = {"start": {"line": 0, "character": 28}, "end": {"line": 0, "character": 32}}
    message = "Cannot find name 'Card'. Define or import it."
    one = {"message": message, "range": place, "source": "fx"}
    [action] = quick_fixes(parse_page(tmp_path, "pages/index.fxl", text), "file:///x", [one])
    assert applied(text, action) == f'import Card from "../components/card.jsx";\n\n{text}'


@pytest.mark.node
async def test_each_name_that_was_meant_and_each_missing_import_has_a_fix(tmp_path: Path) -> None:
    write_tree(tmp_path, FILES)
    async with open_editor(tmp_path) as editor:
        uri = await editor.open(tmp_path / "pages" / "index.fxl")
        await editor.until(lambda: "cuont" in str(editor.diagnostics.get(uri)))
        text = PAGE
        with trio.fail_after(120):
            while any(part not in text for part in FIXED):
                found = editor.diagnostics[uri]
                actions = await offered(editor, uri)
                if not actions:  # those of the types are to come
                    await editor.until(partial(is_replaced, editor, uri, found))
                    continue
                text = applied(text, actions[0])
                version = editor.versions[uri] or 1
                await editor.write(uri, version + 1, {"text": text})
                await editor.until(partial(is_displayed, editor, uri, version + 1))


def test_a_diagnostic_that_is_older_than_its_import_has_no_fix(tmp_path: Path) -> None:
    python = (
        "import json\nfrom pathlib import Path\n\n@server\nasync def load(request):\n"
        "    return json.dumps(Path())\n\n"
    )
    ui = (
        'import Card from "../components/card.jsx";\n'
        'import { Badge } from "../components/badge.jsx";\n\n'
        "export default () => <Card><Badge /></Card>;\n"
    )
    write_tree(tmp_path, {**FILES, "pages/index.fxl": python + ui})
    page = parse_page(tmp_path, "pages/index.fxl", python + ui)

    def titles(name: str, line: int) -> list[str]:
        place = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}}
        one = {"message": f"Cannot find name '{name}'.", "range": place, "source": "fx"}
        return [fix["title"] for fix in quick_fixes(page, "file:///x", [one])]

    assert titles("Card", 10) == titles("Badge", 10) == titles("json", 5) == []
    assert titles("Path", 5) == []
    assert titles("Decimal", 5) == ["Add 'from decimal import Decimal'"]


def test_a_name_joins_the_imports_of_its_module_and_the_first_is_below_the_docstring() -> None:
    root = Path(__file__).parent
    place = {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 4}}

    def fixed(text: str, message: str) -> str:
        page = parse_page(root, "pages/index.fxl", text)
        one = {"message": message, "range": place, "source": "fx"}
        (action, *_) = quick_fixes(page, "file:///x", [one])
        return applied(text, action)

    write = "undefined name 'redirect'. Write 'from fx.runtime import redirect'."
    plain = '"""Doc."""\n@server\nasync def load(request):\n    redirect("/")\n'
    joined = f"from fx.runtime import (\n    invalidate_routes,\n)\n{plain[11:]}"

    assert fixed(plain, write).startswith('"""Doc."""\n\nfrom fx.runtime import redirect\n@server')
    assert "    invalidate_routes, redirect,\n)" in fixed(joined, write)
    first = fixed(plain[11:] + "# 1\n", write)
    assert first.startswith("from fx.runtime import redirect\n\n@server\n")
