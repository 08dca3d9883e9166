"""Mistakes in UI halves, as `fx check` lists them; more cases are in `names.test.js`."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from fxtrio.compile.bundling.bundle_errors import BundlerCrashed
from fxtrio.compile.check import ui_code
from fxtrio.compile.check.ui_code import check_ui, ui_problems
from fxtrio.compile.project import check_project
from fxtrio.compile.source import SourceText, read_bytes
from fxtrio.compile.split.halves import split_source
from fxtrio.config import Config
from fxtrio.node import NodeMissing

pytestmark = pytest.mark.node

CASES = Path(__file__).parent / "cases"


async def check(root: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        (root / "pages" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "pages" / name).write_text(text)
    with trio.fail_after(120):
        project = check_project(root, Config())
        found = await check_ui(root, project, report=lambda line: None)
    return [problem.head for problem in sorted([*project.problems, *found])]


async def test_syntax_errors_of_both_halves_are_listed_together(tmp_path: Path) -> None:
    found = await check(
        tmp_path,
        {
            "index.fxl": "x = y\nexport default function P() {\n  return <p>é 😀</p> +;\n}\n",
            "fine.fxl": "export default (): number => <p>x</p> as unknown as number\n",
            "b.fxl": "const a = ;\nexport default 1\n",
            "broken.fxl": "x = = 1\nexport default +\n",
        },
    )
    assert [line.split(": ")[0] for line in found] == [
        "pages/b.fxl:1:11",
        "pages/broken.fxl:1:5",
        "pages/index.fxl:1:5",
        "pages/index.fxl:3:22",
    ]
    assert found[0].startswith("pages/b.fxl:1:11: broken client code: Unexpected token. ")


async def test_undefined_names_and_imports_have_the_lines_of_the_page_file(tmp_path: Path) -> None:
    found = await check(
        tmp_path,
        {
            "index.fxl": "TITLE = 'x'\n\n@server\nasync def load(request):\n    return {}\n\n"
            "import { Lnik } from 'fx/client'\nimport './nothing.css'\n"
            "export default function P({ data }: { data: Missing }) {\n"
            "  return <p title={TITLE}>é😀{dat}<Lnik /></p>\n}\n",
        },
    )
    assert found == [
        "pages/index.fxl:7:10: 'fx/client' has no export 'Lnik'. Did you mean 'Link'?",
        "pages/index.fxl:8:8: './nothing.css' cannot be found. Check the path.",
        "pages/index.fxl:10:20: undefined name 'TITLE' in client code. It is a name of the server "
        "half: return it from the loader, and write 'data.TITLE'.",
        "pages/index.fxl:10:30: undefined name 'dat' in client code. Define or import it, or write "
        "'data'.",
    ]


async def test_a_parser_that_dies_is_no_empty_answer(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/index.fxl").write_text("export default 1\n")
    with pytest.raises(BundlerCrashed), trio.fail_after(60):
        await ui_problems(tmp_path, check_project(tmp_path, Config()), tmp_path)


async def test_the_client_halves_of_the_sample_files_are_typescript(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    for case in CASES.glob("*.fxl"):
        source = read_bytes(case.read_bytes(), case.name)
        assert isinstance(source, SourceText)
        if not split_source(source).problems:
            (tmp_path / "pages" / case.name).write_bytes(case.read_bytes())
    found = await check(tmp_path, {})
    assert [line for line in found if "broken client code" in line] == []


async def test_without_node_the_skipped_checks_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def missing(report: object) -> Path:
        raise NodeMissing("20.19", ())

    monkeypatch.setattr(ui_code, "ensure_toolchain", missing)
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/index.fxl").write_text("x = y\nexport default +\n")
    lines: list[str] = []
    assert await check_ui(tmp_path, check_project(tmp_path, Config()), report=lines.append) == []
    assert lines[0].startswith("The client code has not been checked.")


async def test_without_whole_pages_node_is_not_started(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/index.fxl").write_text("x = = 1\n")
    lines: list[str] = []
    assert await check_ui(tmp_path, check_project(tmp_path, Config()), report=lines.append) == []
    assert lines == []
