"""Projects to convert, and the commands that do it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from fxtrio.cli.group import main
from tests.trees import write_tree


def committed(root: Path, files: dict[str, str]) -> Path:
    """Write a project, and commit all of it."""
    write_tree(root, files)
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    who = ["-c", "user.name=Anna", "-c", "user.email=anna@example.test"]
    git(root, *who, "commit", "--quiet", "-m", "first")
    return root


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


def report_of(command: str, root: Path, *options: str) -> dict[str, Any]:
    """Return what a command prints with ``--json``."""
    result = CliRunner().invoke(main, [command, "--root", str(root), "--json", *options])
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def tree_of(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }
