"""`fx init`: a new project from the files of `fxtrio/starter/`."""

from __future__ import annotations

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import attrs
import click
from rich.text import Text

from fxtrio.cli.output import console, print_done
from fxtrio.errors import FxtrioError, shown_path

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_RENAMED = {"gitignore": ".gitignore"}
"""Files that would have an effect on this repository under their own name."""


@attrs.define(eq=False)
class StarterClash(FxtrioError):
    """`fx init` would overwrite files."""

    folder: Path
    files: tuple[str, ...]

    def __str__(self) -> str:
        """Name the files."""
        return (
            f"{shown_path(self.folder)}: {', '.join(self.files)} exist already. "
            "Choose another name, or move them away."
        )


@click.command
@click.argument("name")
def command(name: str) -> None:
    """Create the project NAME in a new folder.

    With '.' the current folder becomes the project, and gives it its name. Files that
    exist are never overwritten.
    """
    name = name.rstrip("/") or name
    folder = Path(name).resolve()
    if not _NAME.fullmatch(name if name != "." else folder.name):
        raise click.BadParameter(
            f"{folder.name if name == '.' else name!r} is no project name: letters, digits, "
            "'-' and '_', a letter first.",
            param_hint="NAME",
        )
    content = starter(folder.name)
    clashing = sorted(path for path in content if (folder / path).exists())
    if clashing:
        raise StarterClash(folder, tuple(clashing))
    for path, data in content.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            file.write(data)
    print_done(f"Created {folder.name} with {len(content)} files.")
    _print_next_steps(name)


def starter(name: str) -> dict[str, bytes]:
    """Return the files of a new project: POSIX paths → content."""
    found: dict[str, bytes] = {}
    _collect(files("fxtrio") / "starter", "", found)
    return {path: data.replace(b"__NAME__", name.encode()) for path, data in found.items()}


def _collect(folder: Traversable, prefix: str, found: dict[str, bytes]) -> None:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            _collect(entry, f"{prefix}{entry.name}/", found)
        elif entry.is_file():
            found[prefix + _RENAMED.get(entry.name, entry.name)] = entry.read_bytes()


def _print_next_steps(name: str) -> None:
    steps = [
        ("fx dev", "serve it while you work on it"),
        ("fx check", "find mistakes without building"),
        ("fx build", "build it for production"),
        ("fx serve", "serve the build; needs FX_SECRET_KEY, see 'fx secret'"),
    ]
    out = console()
    out.print("\nNext:\n")
    if name != ".":
        out.print(f"  cd {name}")
    for line, purpose in steps:
        out.print(Text(f"  {line:<10}", style="bold"), Text(purpose, style="dim"), sep="")
