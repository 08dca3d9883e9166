"""`.env` and `.env.local`: read in order, never over what is set, wrong lines named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from fx.testing import open_app
from fxtrio.cli import main
from fxtrio.config.env_files import env_files, load_env_files, read_env_files, renew_env_files
from fxtrio.config.errors import ConfigInvalid
from tests.trees import PAGE, page, write_tree


@pytest.fixture(autouse=True)
def same_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take back what commands set for the process of the test."""
    for name in ("COLOUR", "SIZE", "GREETING", "FX_NAME", "FX_BASE_URL"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def test_the_environment_wins_over_the_local_file_over_the_common_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIZE", "set")
    (tmp_path / ".env").write_text("COLOUR=common\nSIZE=common\nGREETING='common one'\n")
    (tmp_path / ".env.local").write_text("COLOUR=local\nSIZE=local\n")
    with env_files(tmp_path):
        seen = [os.environ[name] for name in ("SIZE", "COLOUR", "GREETING")]
    assert seen == ["set", "local", "common one"]
    assert os.environ["SIZE"] == "set"
    assert "COLOUR" not in os.environ


def test_an_empty_variable_counts_as_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLOUR", "")
    (tmp_path / ".env").write_text("COLOUR=red\nSIZE=\n")
    assert load_env_files(tmp_path) == {"SIZE": ""}
    assert os.environ["COLOUR"] == ""


def test_values_may_name_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIZE", "set")
    (tmp_path / ".env").write_text("SIZE=file\nCOLOUR=red\n")
    (tmp_path / ".env.local").write_text('GREETING="${COLOUR} ${SIZE} ${NOBODY:-none}"\n')
    assert read_env_files(tmp_path)[0]["GREETING"] == "red set none"


def test_every_wrong_line_is_named_and_nothing_is_set(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("# fine\nCOLOUR=red\n\nthis is nothing\nSIZE\n")
    (tmp_path / ".env.local").write_text("GREETING='open\n")
    with pytest.raises(ConfigInvalid) as caught:
        load_env_files(tmp_path)
    first, second, third = str(caught.value).splitlines()
    assert ".env:4:1: cannot be read. Write NAME=value" in first
    assert ".env:5:1: 'SIZE' has no value. Write SIZE=" in second
    assert ".env.local:1:1: cannot be read." in third
    assert "COLOUR" not in os.environ


@pytest.mark.parametrize(
    ("content", "cause"),
    [(b"A=\xff\n", "cannot be read: 'utf-8' codec"), (b"A=a\0b\n", "contains a NUL character")],
)
def test_bytes_that_no_variable_can_hold_are_rejected(
    tmp_path: Path, content: bytes, cause: str
) -> None:
    (tmp_path / ".env").write_bytes(content)
    with pytest.raises(ConfigInvalid, match=cause):
        load_env_files(tmp_path)


def test_a_folder_of_that_name_is_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()
    assert read_env_files(tmp_path) == ({}, ())


def test_without_such_files_the_library_is_not_imported(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from fxtrio.config.env_files import load_env_files;"
        f"load_env_files(Path({str(tmp_path)!r})); print('dotenv' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert run.stdout == "False\n"


LOOK = """
    import os

    AT_IMPORT = os.environ.get("GREETING")

    @server
    async def load(request):
        return {"seen": [AT_IMPORT, os.environ.get("COLOUR")]}
    """


async def test_an_app_under_test_has_them_for_as_long_as_it_runs(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page(LOOK)})
    (tmp_path / ".env").write_text("GREETING=hello\nCOLOUR=red\nFX_BASE_URL=/shop\n")
    (tmp_path / ".env.local").write_text("COLOUR=blue\n")
    async with open_app(tmp_path) as client:
        assert (await client.load_page("/shop")).data == {"seen": ["hello", "blue"]}
    assert "GREETING" not in os.environ
    async with open_app(tmp_path, base_url="") as client:
        assert (await client.load_page("/")).status == 200


async def test_a_broken_file_stops_the_test_with_its_place(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": PAGE})
    (tmp_path / ".env").write_text("what is this\n")
    with pytest.raises(ConfigInvalid, match=r"\.env:1:1: cannot be read"):
        async with open_app(tmp_path):
            pytest.fail("opened")


@pytest.mark.parametrize("command", ["dev", "serve", "check", "build", "routes", "config"])
def test_commands_name_a_broken_line(tmp_path: Path, command: str) -> None:
    write_tree(tmp_path, {"pages/index.fxl": PAGE})
    (tmp_path / ".env").write_text("COLOUR=red\nwhat is this\n")
    result = CliRunner().invoke(main, [command, "--root", str(tmp_path)])
    assert result.exit_code == 1
    assert ".env:2:1: cannot be read." in result.output


def test_a_check_lists_it_with_all_other_problems(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": page("def broken(:")})
    (tmp_path / ".env").write_text("what is this\n")
    result = CliRunner().invoke(main, ["check", "--root", str(tmp_path), "--static"])
    assert ".env:1:1: cannot be read." in result.output
    assert "index.fxl" in result.output


def test_they_may_hold_settings(tmp_path: Path) -> None:
    write_tree(tmp_path, {"pages/index.fxl": PAGE})
    (tmp_path / ".env").write_text("FX_NAME=From the file\n")
    result = CliRunner().invoke(main, ["config", "--root", str(tmp_path)])
    assert "From the file" in result.output


def test_the_code_that_a_check_imports_has_them(tmp_path: Path) -> None:
    source = """\
import os

if os.environ.get("GREETING") != "hello":
    raise ValueError("nobody is greeted")
"""
    write_tree(tmp_path, {"pages/index.fxl": page("import shop"), "shop.py": source})
    check = ["check", "--root", str(tmp_path)]
    assert "nobody is greeted" in CliRunner().invoke(main, check).output
    (tmp_path / ".env").write_text("GREETING=hello\n")
    assert "nobody is greeted" not in CliRunner().invoke(main, check).output


def test_files_that_have_changed_set_what_they_say_now_and_never_what_others_have_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", {"KEPT": "outside"})
    file = tmp_path / ".env"
    file.write_text("KEPT=file\nFIRST=1\nSECOND=2\n")
    before = load_env_files(tmp_path)
    os.environ["SECOND"] = "changed by somebody"
    file.write_text("FIRST=3\nTHIRD=4\n")
    now = renew_env_files(tmp_path, before)

    assert now == {"FIRST": "3", "THIRD": "4"}
    changed = {"SECOND": "changed by somebody"}
    assert os.environ == {"KEPT": "outside", **changed, **now}
    file.unlink()
    assert renew_env_files(tmp_path, now) == {}
    assert os.environ == {"KEPT": "outside", **changed}
