"""Writes what a conversion has planned: all of it, or nothing.

No file is touched until every new one is written beside its place; then the files are
put in place one by one, and put back if one of them cannot be.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import attrs

from fxtrio.errors import PlacedError, display_path
from fxtrio.tools.convert.conversion import Conversion

_PART = ".fx-part"


class ConversionRejected(PlacedError):
    """Nothing was written: existing files could be lost."""

    def __init__(self, root: Path, cause: str, remedy: str) -> None:
        super().__init__(display_path(root), cause, f"Nothing was written. {remedy}")


def reject_unclean(conversion: Conversion, *, force: bool) -> None:
    """Refuse what Git could not undo, and files that would be overwritten.

    Raises ConversionRejected. With ``force`` only the second is looked at.
    """
    root = conversion.root
    clashing = [
        file.path
        for file in conversion.changes()
        if file.path != file.before and _is_there(root / file.path)
    ]
    if clashing:
        raise ConversionRejected(
            root, f"{_some(clashing)} would be overwritten", "Move the existing ones away"
        )
    if not force:
        _reject_unsaved(root, conversion.touched())


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _reject_unsaved(root: Path, touched: list[str]) -> None:
    # Git ignores these in most projects: of variables only the names change, and Next.js writes
    # its types at each start.
    unseen = (".env", "next-env.d.ts")
    existing = [path for path in touched if _is_there(root / path) and not path.startswith(unseen)]
    command = [
        "git",
        "-c",
        "core.fsmonitor=false",
        "-C",
        str(root),
        "status",
        "--porcelain",
        "--ignored",
        "-z",
        "--",
        *existing,
    ]
    way_out = "or write anyway with --force"
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        raise ConversionRejected(
            root, "git is not installed, so this could not be undone", f"Install it, {way_out}"
        ) from None
    if done.returncode:
        raise ConversionRejected(
            root,
            "this is not a Git repository, so it could not be undone",
            f"Run 'git init' and commit, {way_out}",
        )
    changed = [line[3:] for line in done.stdout.decode("utf-8", "replace").split("\0") if line]
    if changed:
        raise ConversionRejected(
            root, f"{_some(changed)} would be changed and is not committed", f"Commit, {way_out}"
        )


def _some(paths: list[str]) -> str:
    listed = ", ".join(f"'{path}'" for path in paths[:3])
    return listed if len(paths) <= 3 else f"{listed} and {len(paths) - 3} more"


@attrs.define
class _Undo:
    """What puts a half done conversion back."""

    created: list[Path] = attrs.field(factory=list)
    former: dict[Path, Path] = attrs.field(factory=dict)
    """Where a file was, and where it is meanwhile."""

    def put_back(self) -> None:
        for path in self.created:
            path.unlink(missing_ok=True)
        for path, aside in self.former.items():
            if aside.exists():
                aside.replace(path)


def write(conversion: Conversion) -> None:
    """Do all of ``conversion``. Raises ConversionRejected, and then nothing has changed."""
    root = conversion.root
    undo = _Undo()
    parts: dict[Path, Path] = {}
    try:
        for file in conversion.changes():
            target = root / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_name(f"{target.name}{_PART}")
            parts[target] = part
            before = root / file.before if file.before else None
            if file.text is None or before is None:
                part.write_bytes(_data(file.text, b"") if before is None else before.read_bytes())
            else:
                part.write_bytes(_data(file.text, before.read_bytes()))
            if before is not None:
                shutil.copymode(before, part)
        removed = [root / path for path in conversion.removed]
        removed += [root / file.before for file in conversion.changes() if file.before]
        for path in dict.fromkeys(removed):
            aside = path.with_name(f"{path.name}{_PART}.former")
            undo.former[path] = aside  # before it is: an interrupt may come at any line
            path.replace(aside)
        for target, part in parts.items():
            undo.created.append(target)
            part.replace(target)
    except BaseException as error:  # an interrupt, too, leaves nothing half done
        undo.put_back()
        for part in parts.values():
            part.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        cause = error.strerror or type(error).__name__
        raise ConversionRejected(root, f"{error.filename}: {cause}", "Make it writable") from error
    for aside in undo.former.values():
        aside.unlink()
    _remove_empty({path.parent for path in undo.former}, root)


def _data(text: str | None, before: bytes) -> bytes:
    """Return a text as bytes, with the line ends of its original."""
    data = (text or "").encode("utf-8", "surrogatepass")
    return data.replace(b"\n", b"\r\n") if b"\r\n" in before else data


def _remove_empty(folders: set[Path], root: Path) -> None:
    """Remove folders that have lost their last file."""
    for folder in sorted(folders, reverse=True):
        while folder != root and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent
