"""`fx docs` reads the documentation without a network."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fxtrio.cli import main
from tests.docs.pages import DOCS


def docs(*words: str) -> Result:
    return CliRunner().invoke(main, ["docs", *words])


def test_all_pages_are_listed() -> None:
    listed = docs().output.splitlines()
    assert len(listed) == len(list(DOCS.rglob("*.md")))
    assert listed[0].startswith("index ")
    assert any(line.startswith("guides/actions ") for line in listed)


@pytest.mark.parametrize("named", ["actions", "guides/actions", "docs/guides/actions.md"])
def test_a_page_is_printed_as_it_is(named: str) -> None:
    assert docs(named).stdout == (DOCS / "guides/actions.md").read_text("utf-8")


def test_a_page_has_the_name_of_its_title() -> None:
    assert docs("dark", "mode").stdout == (DOCS / "guides/dark-mode.md").read_text("utf-8")


def test_of_pages_with_one_name_the_others_are_named() -> None:
    result = docs("markdown")
    assert result.stdout == (DOCS / "guides/markdown.md").read_text("utf-8")
    assert "reference/markdown" in result.stderr


def test_other_words_are_searched_for() -> None:
    found = docs("cancel_on_disconnect").output
    assert "guides/actions > " in found
    result = docs("actoins")
    assert result.exit_code == 2
    assert "Did you mean 'actions'?" in " ".join(result.output.split())


def test_the_folder_of_the_files_is_named() -> None:
    assert Path(docs("--path").output.strip()) == DOCS


def test_the_section_of_an_error_is_printed() -> None:
    result = docs("LoaderError")

    assert result.stdout.startswith("LoaderError\n\nRaise it in a loader")
    assert "NotFound" not in result.stdout


def test_a_command_that_fails_names_the_section_of_its_error(tmp_path: Path) -> None:
    (tmp_path / "fx.config.json").write_text('{"nmae": "shop"}')
    result = CliRunner().invoke(main, ["routes", "--root", str(tmp_path)])

    assert result.exit_code == 1
    assert "See 'fx docs ConfigInvalid'." in result.stderr
