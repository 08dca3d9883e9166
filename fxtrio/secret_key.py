"""The key that signs, for projects that have not set FX_SECRET_KEY."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from fxtrio.build_folder import require_no_link

FILE = Path(".fx/secret-key")


def project_key(root: Path) -> str:
    """Return the key stored in ``root``/.fx, created at the first call.

    One machine keeps it; several need FX_SECRET_KEY. Raises LinkInTheWay.
    """
    path = root / FILE
    try:
        return path.read_text("ascii").strip()
    except FileNotFoundError:
        pass
    require_no_link(root, FILE)
    path.parent.mkdir(parents=True, exist_ok=True)
    key = secrets.token_urlsafe(32)
    whole = path.with_name(f"{path.name}.{os.getpid()}")
    handle = os.open(whole, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(key + "\n")
    try:
        path.hardlink_to(whole)  # fails when another process was faster; never half a key
    except FileExistsError:
        key = path.read_text("ascii").strip()
    finally:
        whole.unlink()
    return key
