"""The types of `fx/client`, where the `tsconfig.json` of a project looks for them.

The package itself lies wherever Python is, so the file is copied; and again when it is another
one after an upgrade.
"""

from __future__ import annotations

from pathlib import Path

from fxtrio.atomic_write import write_whole
from fxtrio.build_folder import require_no_link
from fxtrio.compile.bundling.installation import JS

CLIENT_TYPES = ".fx/types/client.d.ts"
"""Relative to the project folder."""


def client_types() -> bytes:
    """Return the declarations of `fx/client`."""
    return (JS / "client" / "index.d.ts").read_bytes()


def write_client_types(root: Path) -> None:
    """Write the file, if the project's `tsconfig.json` names it and it is not there as it is.

    Raises LinkInTheWay.
    """
    try:
        named = CLIENT_TYPES in (root / "tsconfig.json").read_text("utf-8", errors="replace")
    except OSError:
        return
    if named:
        write_whole(require_no_link(root, CLIENT_TYPES), client_types())
