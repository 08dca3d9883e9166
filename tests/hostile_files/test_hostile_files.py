"""No file ends a tool, whatever is in it.

Each tool takes a share of `FILES`, and all of them are taken; `nox -s hostile` gives them to all.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile_files.files import FILES
from tests.hostile_files.tools import develop, edit, format_all, run, write_project

pytestmark = pytest.mark.node

COMMANDS = [("check",), ("check", "--static", "--json"), ("build",), ("format", "--check")]


def share(number: int, of: int = len(COMMANDS)) -> dict[str, bytes]:
    """Return the files that one tool takes."""
    return {name: FILES[name] for name in sorted(FILES)[number::of]}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_reports_hostile_files_and_ends_in_order(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    write_project(tmp_path, share(COMMANDS.index(command)))
    assert "p0.fxl" in run(tmp_path, *command)


async def test_an_editor_is_answered_over_hostile_files(tmp_path: Path) -> None:
    await edit(tmp_path, write_project(tmp_path, share(1, 12)))


async def test_each_hostile_file_is_formatted_or_left_as_it_is(tmp_path: Path) -> None:
    await format_all(tmp_path, write_project(tmp_path, share(0, 12)))


def test_a_page_is_served_in_development_beside_hostile_files(tmp_path: Path) -> None:
    write_project(tmp_path, {})
    develop(tmp_path, share(2, 12))
