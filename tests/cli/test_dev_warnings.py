"""`fx dev` shows mistakes of UI code after a build, before any page is asked for."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import trio
from rich.console import Console

from fxtrio.cli.dev import build_and_warn
from fxtrio.cli.develop.terminal import Terminal
from tests.trees import write_tree

pytestmark = pytest.mark.node


async def test_mistakes_of_pages_and_components_are_shown_and_the_app_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": "import { Form } from 'fx/client';\n"
            "import { Card } from '../card';\n"
            "export default () => <Form action='oder'><Card />{mesage}</Form>;\n",
            "card.jsx": "export const Card = () => <Crad />;\n",
        },
    )
    monkeypatch.chdir(tmp_path)
    shown = io.StringIO()
    terminal = Terminal(Console(file=shown, width=300))

    with trio.fail_after(120):
        await build_and_warn(tmp_path, terminal, lambda line: None)

    assert [line.partition(". ")[0] for line in shown.getvalue().splitlines()] == [
        "! card.jsx:1:28: undefined name 'Crad' in UI code",
        "! pages/index.fxl:3:35: this page has no action 'oder'",
        "! pages/index.fxl:3:51: undefined name 'mesage' in UI code",
    ]
    assert (tmp_path / ".fx/dev/manifest.json").is_file()
