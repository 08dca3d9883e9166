"""`fx db`, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fxtrio.cli import main
from tests.trees import write_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    config = '{"database": {"url": "sqlite:///data/app.db"}}'
    return write_tree(tmp_path, {"fx.config.json": config})


def run(root: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["db", *words, "--root", str(root)])


def test_a_migration_from_new_to_changed(root: Path) -> None:
    assert run(root, "new", "add notes").exit_code == 0
    file = root / "migrations/0001_add_notes.sql"
    file.write_text("create table notes (text text);")

    checked = run(root, "check")
    assert checked.exit_code == 1 and "0001_add_notes.sql has not been run" in checked.output
    assert "1 migration run" in run(root, "up").output
    assert "Nothing to run" in run(root, "up").output
    assert run(root, "check").exit_code == 0
    status = json.loads(run(root, "status", "--json").output)
    assert status["problems"] == [] and status["migrations"][0]["applied"].startswith("20")

    file.write_text("create table other (text text);")
    for command in ("up", "status", "check"):
        result = run(root, command)
        assert result.exit_code == 1 and "has changed since it was run" in result.output


def test_failures_and_notes_have_no_tick(root: Path) -> None:
    write_tree(
        root,
        {
            "migrations/0001_good.sql": "create table notes (text text);",
            "migrations/0002_breaking.sql": "-- incompatible: drops it\ndrop table notes;",
            "migrations/0003_broken.sql": "drop table nothing;",
        },
    )
    lines = run(root, "up").output.splitlines()
    assert lines[:4] == [
        "warning 0002_breaking.sql is not compatible with the version that runs now: drops it",
        "  0001_good.sql",
        "  0002_breaking.sql",
        "  0003_broken.sql",
    ]
    assert not any("✓" in line for line in lines)


def test_without_a_database_the_setting_is_named(tmp_path: Path) -> None:
    result = run(tmp_path, "up")

    assert result.exit_code == 1 and "Set 'database.url'" in result.output
