"""`fx format` at work in a project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fxtrio.cli import main
from fxtrio.tools.format.rewrite_files import ChangedMeanwhile, FileText, write
from tests.trees import write_tree

pytestmark = pytest.mark.node

UGLY = "X=1\n\n\nexport default ()=><p>{ 'a' }</p>\n"
FINE = 'X = 1\n\n\nexport default () => <p>{"a"}</p>;\n'
BROKEN = "X = (\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {"pages/a.fxl": UGLY, "pages/b/[id].fxl": UGLY, "pages/fine.fxl": FINE, "app.py": "x=1"}
    monkeypatch.chdir(tmp_path)
    return write_tree(tmp_path, files)


def fx(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(main, ["format", *arguments], input=text)


def test_all_pages_of_the_project_are_formatted_and_nothing_else(project: Path) -> None:
    result = fx()
    assert result.exit_code == 0
    assert result.output == "pages/a.fxl\npages/b/[id].fxl\n✓ 2 files formatted, 1 as before.\n"
    assert {path.read_text() for path in project.rglob("*.fxl")} == {FINE}
    assert (project / "app.py").read_text() == "x=1"
    assert {path.name for path in project.rglob("*") if path.is_file()} == {
        *("a.fxl", "[id].fxl", "fine.fxl", "app.py")
    }
    assert fx("--check").exit_code == 0


def test_named_files_and_folders_are_formatted_alone(project: Path) -> None:
    assert fx("app.py", "pages/b").exit_code == 0
    assert (project / "app.py").read_text() == "x = 1\n"
    assert (project / "pages/b/[id].fxl").read_text() == FINE
    assert (project / "pages/a.fxl").read_text() == UGLY


def test_check_writes_nothing_and_ends_with_one(project: Path) -> None:
    result = fx("--check", "pages/a.fxl", "pages/fine.fxl")
    assert result.exit_code == 1
    assert result.output == "pages/a.fxl: it is not formatted. Run 'fx format'.\n"
    assert (project / "pages/a.fxl").read_text() == UGLY


def test_a_diff_says_what_would_change(project: Path) -> None:
    result = fx("--diff", "pages/a.fxl")
    assert result.exit_code == 1
    assert "-X=1\n+X = 1\n" in result.stdout and "+++ pages/a.fxl" in result.stdout
    assert (project / "pages/a.fxl").read_text() == UGLY


def test_a_broken_page_is_named_and_the_others_are_formatted(project: Path) -> None:
    (project / "pages/a.fxl").write_text(BROKEN)
    result = fx()
    assert result.exit_code == 1
    assert "error pages/a.fxl:1:5: broken Python: '(' was never closed" in result.stderr
    assert (project / "pages/a.fxl").read_text() == BROKEN
    assert (project / "pages/b/[id].fxl").read_text() == FINE
    assert "1 file formatted, 1 as before." in result.stdout


def test_standard_input_is_formatted_under_a_name(project: Path) -> None:
    result = fx("--stdin-filename", "pages/new.fxl", text=UGLY)
    assert (result.exit_code, result.stdout) == (0, FINE)
    assert not (project / "pages/new.fxl").exists()
    result = fx("--stdin-filename", "pages/new.fxl", text=BROKEN)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "pages/new.fxl:1:5" in result.stderr
    assert fx("--stdin-filename", "pages/new.fxl", "--check", text=UGLY).exit_code == 1


@pytest.mark.parametrize("ending", ["\r\n", "\r", "\n"])
def test_line_ends_byte_order_mark_and_mode_stay(project: Path, ending: str) -> None:
    page = project / "pages/a.fxl"
    page.write_bytes(b"\xef\xbb\xbf" + UGLY.replace("\n", ending).encode())
    page.chmod(0o640)
    assert fx("pages/a.fxl").exit_code == 0
    assert page.read_bytes() == b"\xef\xbb\xbf" + FINE.replace("\n", ending).encode()
    assert page.stat().st_mode & 0o777 == 0o640


def test_a_symbolic_link_stays_one(project: Path) -> None:
    link = project / "pages/link.fxl"
    link.symlink_to("a.fxl")
    assert fx("pages/link.fxl").exit_code == 0
    assert link.is_symlink() and (project / "pages/a.fxl").read_text() == FINE


def test_a_concurrent_save_is_not_overwritten(tmp_path: Path) -> None:
    page = tmp_path / "a.fxl"
    page.write_text("mine\n")
    with pytest.raises(ChangedMeanwhile, match="it changed while"):
        write(FileText(page, b"theirs\n", b"formatted\n"))
    assert page.read_text() == "mine\n"
    assert list(tmp_path.iterdir()) == [page]


def test_a_missing_file_is_named(project: Path) -> None:
    result = fx("pages/gone.fxl")
    assert result.exit_code == 1
    assert "pages/gone.fxl: No such file or directory." in result.stderr


def test_without_ruff_the_remedy_is_reported(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    monkeypatch.setattr("fxtrio.tools.format.documents.format_ui", _unasked)
    result = fx()
    assert result.exit_code == 1
    assert "pip install 'fxtrio[format]'" in result.stderr
    assert (project / "pages/a.fxl").read_text() == UGLY


async def _unasked(*_: object, **__: object) -> dict[Path, str]:
    return {}


def test_the_prettier_of_the_project_goes_first(project: Path) -> None:
    own = project / "node_modules/prettier"
    index = (
        "exports.resolveConfig = async () => null;"
        "exports.getFileInfo = async () => ({ ignored: false });"
        "exports.format = async () => 'export default 1;\\n';"
    )
    package = json.dumps({"name": "prettier", "version": "3.0.0", "main": "index.cjs"})
    write_tree(own, {"package.json": package, "index.cjs": index})
    assert fx("pages/a.fxl").exit_code == 0
    assert (project / "pages/a.fxl").read_text() == "X = 1\n\n\nexport default 1;\n"


def test_a_broken_setting_of_prettier_is_reported(project: Path) -> None:
    (project / ".prettierrc.json").write_text("{")
    result = fx("pages/a.fxl")
    assert result.exit_code == 1
    assert "prettier: it failed, and formatted nothing." in result.stderr
    assert ".prettierrc.json" in result.stderr
    assert (project / "pages/a.fxl").read_text() == UGLY


@pytest.mark.parametrize(
    "options",
    [(), ("--tailwind", "--typescript"), ("--tailwind", "--accounts", "--database")],
)
def test_a_new_project_is_formatted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["init", "shop", *options]).exit_code == 0
    written = (file for file in Path("shop").rglob("*") if file.suffix in (".py", ".jsx", ".tsx"))
    result = fx("--root", "shop", "--check", "shop/pages", *map(str, written))
    assert (result.exit_code, result.stderr) == (0, "")
