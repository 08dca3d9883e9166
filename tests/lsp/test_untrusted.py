"""`fx lsp` with ``imports: false`` runs nothing of the folder that is open."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
from pygls.exceptions import JsonRpcException

from fxtrio.tools.format.prettier import PrettierFailed, format_ui
from tests.cli.hostile_repository import PAGE, HostileRepository
from tests.lsp.editor import open_editor
from tests.lsp.test_formatting import formatted

pytestmark = [pytest.mark.node, pytest.mark.own_interpreter]


async def test_a_page_of_a_hostile_folder_is_checked_and_nothing_of_the_folder_runs(
    tmp_path: Path,
) -> None:
    hostile = HostileRepository(tmp_path)
    page = hostile.root / "pages" / "index.fxl"
    async with open_editor(hostile.root, imports=False) as editor:
        hostile.left()  # Python's own, of a server that the tests start as a module
        broken = PAGE.replace("{ data.x }", "{ missing }")
        page.write_text(broken)
        uri = await editor.open(page)
        await editor.saved(uri)
        await editor.until(lambda: bool(editor.diagnostics.get(uri)))
        assert "missing" in editor.diagnostics[uri][0]["message"]
        with pytest.raises(JsonRpcException, match="no code of this project is run here"):
            await formatted(editor, uri, broken)
    assert hostile.left() == set()


@pytest.mark.parametrize(
    ("name", "text", "is_plain"),
    [
        (".prettierrc", '{"singleQuote": true}', True),
        (".prettierrc.json", '{"singleQuote": true}', True),
        ("package.json", '{"prettier": {"singleQuote": true}}', True),
        ("package.json", '{"prettier": "evil-plugin"}', False),
        (".prettierrc", '"evil-plugin"', False),
        (".prettierrc", "evil-plugin", False),
        (".prettierrc", '{"plugins": ["evil-plugin"]}', False),
        (".prettierrc", '{"overrides": [{"files": "*", "options": {"plugins": ["x"]}}]}', False),
        ("prettier.config.mjs", "export default {};", False),
    ],
)
async def test_settings_of_prettier_hold_where_they_cannot_run_code(
    tmp_path: Path, name: str, text: str, is_plain: bool
) -> None:
    hostile = HostileRepository(tmp_path)
    (hostile.root / ".prettierrc.cjs").unlink()
    (hostile.root / name).write_text(text)
    texts = {hostile.root / "pages" / "index.fxl": 'const a = "b";\n'}
    with trio.fail_after(100):
        if is_plain:
            found = await format_ui(hostile.root, texts, report=print, static=True)
            assert list(found.values()) == ["const a = 'b';\n"]
        else:
            with pytest.raises(PrettierFailed, match="no code of this project is run here"):
                await format_ui(hostile.root, texts, report=print, static=True)
    assert hostile.left() == set()
