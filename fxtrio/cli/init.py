"""`fx init`: a new project from the files of `fxtrio/starter/`.

`base` is every project's; `tailwind` and `typescript` hold what these options add to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from textwrap import indent
from typing import Any

import attrs
import click
from rich.text import Text

from fxtrio.cli.output import console, print_done
from fxtrio.errors import FxtrioError, shown_path

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_RENAMED = {"gitignore": ".gitignore"}
"""Files that would have an effect on this repository under their own name."""

_STYLES = "pages/styles.css"


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
@click.option("--tailwind", is_flag=True, help="Styles with Tailwind; needs 'npm install'.")
@click.option("--typescript", is_flag=True, help="Modules in TypeScript, and types for editors.")
def command(name: str, tailwind: bool, typescript: bool) -> None:
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
    content = starter(folder.name, tailwind=tailwind, typescript=typescript)
    clashing = sorted(path for path in content if (folder / path).exists())
    if clashing:
        raise StarterClash(folder, tuple(clashing))
    for path, data in content.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            file.write(data)
    own = [path for path in content if not path.startswith(".fx/")]
    print_done(f"Created {folder.name} with {len(own)} files.")
    _print_next_steps(name, packages="package.json" in content)


def starter(name: str, *, tailwind: bool = False, typescript: bool = False) -> dict[str, bytes]:
    """Return the files of a new project: POSIX paths → content."""
    from fxtrio.compile.editor_types import CLIENT_TYPES, client_types

    found = _files_of("base")
    if tailwind:
        found[_STYLES] = _layered(found[_STYLES])
        found = _joined(found, _files_of("tailwind"))
    if typescript:
        found = _joined(found, _files_of("typescript"))
        found[CLIENT_TYPES] = client_types()
    return {path: data.replace(b"__NAME__", name.encode()) for path, data in found.items()}


def _files_of(part: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    _collect(files("fxtrio") / "starter" / part, "", found)
    return found


def _collect(folder: Traversable, prefix: str, found: dict[str, bytes]) -> None:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            _collect(entry, f"{prefix}{entry.name}/", found)
        elif entry.is_file():
            found[prefix + _RENAMED.get(entry.name, entry.name)] = entry.read_bytes()


def _joined(found: dict[str, bytes], added: dict[str, bytes]) -> dict[str, bytes]:
    """Return both: texts follow each other, packages are listed together, modules take the place
    of those of the same name in JavaScript."""
    typed = {str(PurePosixPath(path).with_suffix(".jsx")) for path in added}
    joined = {path: data for path, data in found.items() if path not in typed}
    for path, data in added.items():
        if path == "package.json":
            joined[path] = _with_packages(joined.get(path, b"{}"), data)
        else:
            joined[path] = joined.get(path, b"") + data
    return dict(sorted(joined.items()))


def _with_packages(one: bytes, other: bytes) -> bytes:
    """Return a `package.json` that lists the packages of both."""
    listed: dict[str, Any] = {"private": True, "type": "module"}
    parts = [json.loads(text) for text in (one, other)]
    for kind in ("dependencies", "devDependencies"):
        packages = {name: asked for part in parts for name, asked in part.get(kind, {}).items()}
        if packages:
            listed[kind] = dict(sorted(packages.items()))
    return json.dumps(listed, indent=2).encode() + b"\n"


def _layered(styles: bytes) -> bytes:
    """Return the starter's rules with Tailwind, whose classes win over them."""
    rules = indent(styles.decode(), "  ")
    return f'@import "tailwindcss";\n\n@layer components {{\n{rules}}}\n'.encode()


def _steps(*, packages: bool) -> Iterable[tuple[str, str]]:
    if packages:
        yield "npm install", "fetch the packages that package.json lists"
    yield "fx dev", "serve it while you work on it"
    yield "fx check", "find mistakes without building"
    yield "fx build", "build it for production"
    yield "fx serve", "serve the build; needs FX_SECRET_KEY, see 'fx secret'"


def _print_next_steps(name: str, *, packages: bool) -> None:
    out = console()
    out.print("\nNext:\n")
    if name != ".":
        out.print(f"  cd {name}")
    for line, purpose in _steps(packages=packages):
        out.print(Text(f"  {line:<13}", style="bold"), Text(purpose, style="dim"), sep="")
