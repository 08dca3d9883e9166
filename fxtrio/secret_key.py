"""The key that signs, for projects that have not set FX_SECRET_KEY."""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path

from fxtrio.build_folder import require_no_link

FILE = Path(".fx/secret-key")
_LEAST = 16
"""Characters that a key must have; the settings want as many."""


def project_key(root: Path) -> str:
    """Return the key stored in ``root``/.fx, created at the first call.

    One machine keeps it; several need FX_SECRET_KEY. A file that holds no key, as after a power
    failure, is replaced. Raises LinkInTheWay, and OSError when another user's key is there.
    """
    return _read(root / FILE) or _make(root)


def _read(path: Path) -> str | None:
    """Return the key in ``path``; None when there is no file, or no key in it."""
    try:
        key = path.read_text("ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    return key if len(key) >= _LEAST else None


def _make(root: Path) -> str:
    path = require_no_link(root, FILE)
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # processes that start together get one key
        key = _read(path)
        if key is None:
            key = secrets.token_urlsafe(32)
            _write(path, key)
        return key
    finally:
        os.close(folder)


def _write(path: Path, key: str) -> None:
    whole = path.with_name(f"{path.name}.{os.getpid()}")
    handle = os.open(whole, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(key + "\n")
        file.flush()
        os.fsync(handle)  # or the file may be empty after a power failure
    whole.replace(path)
