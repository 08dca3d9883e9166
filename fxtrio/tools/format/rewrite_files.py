"""Files that are formatted: which ones, their bytes as text, and back in one step."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import attrs

from fxtrio.atomic_write import replacement
from fxtrio.compile.problems import Problem
from fxtrio.compile.source import read_bytes
from fxtrio.errors import PlacedError, display_path
from fxtrio.tools.format.documents import PAGE, format_documents
from fxtrio.tools.format.prettier import RunPrettier, run_prettier

_BOM = "\ufeff"
_PASSED_OVER = frozenset({"node_modules", "__pycache__"})


class FileUnusable(PlacedError):
    """A file cannot be read or written."""

    remedy = "Correct the path, or its permissions"

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(display_path(path), error.strerror or type(error).__name__)


class ChangedMeanwhile(PlacedError):
    """Somebody else has written a file while it was formatted."""

    remedy = "Run the command again"

    def __init__(self, path: Path) -> None:
        cause = "it changed while it was formatted, so it was not overwritten"
        super().__init__(display_path(path), cause)


@attrs.frozen
class FileText:
    """A file as it is and as it would be formatted."""

    path: Path
    before: bytes
    after: bytes
    """The same as `before` when it is formatted already, or has problems."""

    problems: tuple[Problem, ...] = ()


def find_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files at ``paths``, each once: those named, and all pages below folders.

    Hidden folders and ``node_modules`` are passed over.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            found.update(dict.fromkeys(_pages_below(path)))
        else:
            found[path] = None
    return list(found)


def _pages_below(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in _PASSED_OVER
        )
        yield from (Path(parent, name) for name in sorted(names) if name.endswith(PAGE))


def read(path: Path) -> bytes:
    """Return the bytes of a file. Raises FileUnusable."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileUnusable(path, error) from error


async def format_files(
    root: Path,
    files: Sequence[tuple[Path, bytes]],
    *,
    report: Callable[[str], None],
    static: bool = False,
    run: RunPrettier = run_prettier,
) -> list[FileText]:
    """Return what becomes of ``files``, their paths and contents; nothing is written.

    ``root`` is the project folder. ``static``, ``run`` and what it raises are those of
    `format_documents`.
    """
    texts: dict[str, str] = {}
    rewritten: dict[Path, FileText] = {}
    for path, data in files:
        name = _name(root, path)
        text = read_bytes(data, name)
        if isinstance(text, Problem):
            rewritten[path] = FileText(path, data, data, (text,))
        else:
            texts[name] = text.text
    formatted = await format_documents(root, texts, report=report, static=static, run=run)
    for path, data in files:
        if path not in rewritten:
            result = formatted[_name(root, path)]
            after = data if result.problems else _with_form(result.text, data)
            rewritten[path] = FileText(path, data, after, result.problems)
    return [rewritten[path] for path, _ in files]


def _name(root: Path, path: Path) -> str:
    """Return ``path`` relative to ``root`` where it is below it, or else absolute."""
    whole = path.parent.resolve() / path.name
    return (whole.relative_to(root) if whole.is_relative_to(root) else whole).as_posix()


def _with_form(text: str, before: bytes) -> bytes:
    """Return ``text`` with the line ends and the byte order mark of a file.

    A file with several kinds of line ends gets that of its first line.
    """
    old = before.decode()
    first = next((char for char in old if char in "\r\n"), "\n")
    if first == "\r":
        first = "\r\n" if old[old.index("\r") :].startswith("\r\n") else "\r"
    mark = _BOM if old.startswith(_BOM) else ""
    return (mark + text.replace("\n", first)).encode()


def write(file: FileText) -> None:
    """Put what was formatted in the place of a file, in one step; its mode stays.

    A symbolic link stays one: its file is replaced. Raises ChangedMeanwhile and FileUnusable.
    """
    try:
        _replace(file, file.path.resolve())
    except OSError as error:
        raise FileUnusable(file.path, error) from error


def _replace(file: FileText, target: Path) -> None:
    with replacement(target) as file_after:
        shutil.copymode(target, file_after.name)
        file_after.write(file.after)
        if target.read_bytes() != file.before:
            raise ChangedMeanwhile(file.path)
