"""The types of `fx/client`, where the `tsconfig.json` of a project looks for them.

The package itself lies wherever Python is, so the file is copied; and again when it is another
one after an upgrade.
"""

from __future__ import annotations

from pathlib import Path

from fxtrio.compile.installation import JS

CLIENT_TYPES = ".fx/types/client.d.ts"
"""Relative to the project folder."""


def client_types() -> bytes:
    """Return the declarations of `fx/client`."""
    return (JS / "client" / "index.d.ts").read_bytes()


def write_client_types(root: Path) -> None:
    """Write the file, if the project's `tsconfig.json` names it and it is not there as it is."""
    settings, target, text = root / "tsconfig.json", root / CLIENT_TYPES, client_types()
    try:
        if CLIENT_TYPES not in settings.read_text("utf-8", errors="replace"):
            return
        if target.read_bytes() == text:
            return
    except OSError:
        if not settings.is_file():
            return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text)
