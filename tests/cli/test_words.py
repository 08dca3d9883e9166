"""What commands say to those who type something else than they take."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from fxtrio.cli import main
from tests.trees import PAGE, write_tree


def usage_error(*arguments: str) -> str:
    """Return what a command says that refuses to run, in one line."""
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == 2, result.output
    return " ".join(result.output.split())


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("db migrate", "'up'"),
        ("db upgrade", "'up'"),
        ("db makemigrations", "'new'"),
        ("db staus", "'status'"),
        ("jobs run", "'work'"),
        ("jobs lst", "'list'"),
    ],
)
def test_the_command_that_is_meant_is_named(typed: str, meant: str) -> None:
    assert f"Did you mean {meant}?" in usage_error(*typed.split())


def test_a_word_like_no_command_lists_the_commands() -> None:
    assert "There are work, list, show" in usage_error("jobs", "frobnicate")


@pytest.mark.parametrize("group", ["db", "jobs"])
def test_the_project_may_be_named_before_the_command(group: str, tmp_path: Path) -> None:
    write_tree(tmp_path, {"fx.config.json": '{"database": {"url": "sqlite:///here.db"}}'})
    command = {"db": "up", "jobs": "stats"}[group]

    result = CliRunner().invoke(main, [group, "--root", str(tmp_path), command])

    assert result.exit_code == 0, result.output
    assert (tmp_path / "here.db").exists()
    assert "does not exist" in usage_error(group, "--root", str(tmp_path / "none"), command)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("localhost:65536", "the port is above 65535"),
        ("localhost", "it has no port, such as"),
        ("localhost:http", "it has no port, such as"),
        ("fd://x", "it has no number"),
        ("unix:", "it has no path"),
    ],
)
def test_an_address_is_looked_at_before_the_build(
    address: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # without a build
    assert f"{address!r}: {why}" in usage_error("serve", "--bind", address)


@pytest.mark.parametrize("command", ["dev", "serve"])
@pytest.mark.parametrize("port", ["65536", "-1"])
def test_ports_end(command: str, port: str) -> None:
    assert "is not in the range" in usage_error(command, "--port", port)


def test_a_project_is_not_called_like_a_keyword(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "such as 'class-app'" in usage_error("init", "class")
    assert not list(tmp_path.iterdir())


def test_the_language_server_prints_on_a_terminal_what_it_is() -> None:
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "fxtrio", "lsp"],
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    assert "an editor starts it" in done.stderr


@pytest.mark.node
def test_files_and_folders_may_be_checked_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = "@server\nasync def load(request:\n    return {}\n\n" + PAGE
    write_tree(
        tmp_path,
        {
            "pages/index.fxl": broken,
            "pages/shop/cart.fxl": broken,
            "pages/shop/fine.fxl": "export default () => <p>fine</p>;\n",
        },
    )
    monkeypatch.chdir(tmp_path / "pages")

    def found(*paths: str) -> set[str]:
        result = CliRunner().invoke(main, ["check", "--root", "..", "--json", *paths])
        problems = json.loads(result.stdout)["problems"]
        assert result.exit_code == (1 if problems else 0)
        return {one["path"] for one in problems}

    assert found("index.fxl") == {"index.fxl"}
    assert found("shop") == {"shop/cart.fxl"}
    assert found("shop/fine.fxl") == set()
    assert found() == {"index.fxl", "shop/cart.fxl"}
    assert "is not in" in usage_error("check", "--root", "..", str(Path(__file__)))
